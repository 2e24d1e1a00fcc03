/** A command that could not be run as it was written: what to write instead. */
import { posix } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import { quoted, type ScriptWord, type SimpleCommand, started, withWord } from '../common/simple-commands.ts'
import type { Around } from './around.ts'
import { inPlaceOf, isInstalled, type Missing, missingIn } from './found-nothing.ts'
import { toolAsCommand } from './tool-as-command.ts'

export interface Unsafe {
  /** The program that runs in the end. */
  readonly name: string
  readonly words: readonly string[]
}

export interface Attempt {
  readonly script: string
  readonly commands: readonly SimpleCommand[]
  /** The commands that may do more than read. */
  readonly unsafe: readonly Unsafe[]
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly content: string
}

/** What a refusal is made of. */
interface Wrong {
  readonly says: string
  readonly constraint: string
  readonly word: ScriptWord
  /** In place of the word, best first. */
  readonly near: readonly string[]
}

/** @returns undefined where the command ran and failed by itself */
export async function notRun(attempt: Attempt, around: Around): Promise<ModelRetry | undefined> {
  const missing = missingIn(attempt.exitCode, attempt.stderr)
  const tool = missing && toolAsCommand(attempt.script, missing.name)
  if (tool) return tool
  const program = missing && (await noProgram(attempt, missing, around))
  const wrong = program ?? (await noPath(attempt, around))
  return wrong ? refusal(attempt, wrong) : syntax(attempt)
}

async function noProgram({ script, commands }: Attempt, { name, how }: Missing, around: Around): Promise<Wrong | undefined> {
  const word = commands.flatMap(({ words }) => words).find(({ value }) => value === name) ?? onlyPlace(script, name)
  // Some program that was run did not find it.
  if (!word) return undefined
  if (how === 'not_executable')
    return {
      says: `"${name}" may not be executed.`,
      constraint: 'a program that may be executed',
      word,
      near: [await asProgram(name, around)].filter((one) => one !== undefined),
    }
  if (name.includes('/')) {
    const near = await Promise.all(((await around.nearest(name)) ?? []).map((path) => asProgram(path, around)))
    return {
      says: `There is no program "${name}".`,
      constraint: 'a program that is there',
      word,
      near: near.filter((one) => one !== undefined),
    }
  }
  const near = inPlaceOf(name, await around.known())
  const install = near.length === 0 && isInstalled(name) ? ' It has to be installed by a person, or do without it.' : ''
  return { says: `There is no command "${name}" in the sandbox.${install}`, constraint: 'a command that exists in the sandbox', word, near }
}

/** Of a name that stands in a substitution, and nowhere else. */
function onlyPlace(script: string, name: string): ScriptWord | undefined {
  const places = [...script.matchAll(/[\w./+-]+/g)].filter(([word]) => word === name)
  const at = places[0]?.index
  return places.length !== 1 || at === undefined ? undefined : { value: name, pos: at, end: at + name.length }
}

/** How a file is run; undefined where nobody can tell. */
async function asProgram(path: string, around: Around): Promise<string | undefined> {
  const { executable, firstLine } = await around.file(path)
  const name = path.includes('/') ? quoted(path) : `./${quoted(path)}`
  const program = interpreter(path, firstLine)
  return executable ? name : program && `${program} ${quoted(path)}`
}

const BY_ENDING: Readonly<Record<string, string>> = {
  sh: 'bash',
  bash: 'bash',
  py: 'python3',
  js: 'node',
  mjs: 'node',
  cjs: 'node',
  ts: 'node',
  rb: 'ruby',
  pl: 'perl',
  php: 'php',
}

function interpreter(path: string, firstLine: string): string | undefined {
  const named = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(?:\S*\/)?([\w.+-]+)/.exec(firstLine)?.[1]
  return named ?? BY_ENDING[/\.(\w+)$/.exec(path)?.[1] ?? '']
}

const PATH = 'a path that exists'
/** Whole scripts, each of them. */
const MAX_OTHERS = 2
/** A line that says of a path that it is not there. */
const NOT_THERE =
  /no such file|cannot find (?:the )?(?:file|path|module)|can't (?:open|find|cd)|cannot (?:open|access|stat)|file not found|not found:|does not exist|ENOENT/i
/** Words that may be paths: no options, nothing that the shell would expand. */
const PLAIN = /^[^-$*?`~{}[\]<>|&;!\s][^$*?`{}[\]<>|&;\s]*$/
const MAX_LINES = 200
const MAX_WORDS = 50

async function noPath({ commands, unsafe, stdout, stderr }: Attempt, around: Around): Promise<Wrong | undefined> {
  const lines = [...stderr.split('\n').slice(-MAX_LINES), ...stdout.split('\n').slice(-MAX_LINES)].filter((line) => NOT_THERE.test(line))
  if (lines.length === 0) return undefined
  const words = commands.flatMap(({ words: [, ...args], inputs }) => [...args, ...inputs])
  for (const word of words.filter(({ value }) => PLAIN.test(value)).slice(0, MAX_WORDS)) {
    if (!lines.some((line) => holds(line, word.value))) continue
    const near = await around.nearest(word.value)
    if (near === undefined) continue
    const owner = ownerOf(commands, word)
    const reads = !unsafe.some((one) => owner && isSame(one, owner))
    const meant = near.filter((one) => reads || posix.extname(one) === posix.extname(word.value))
    return { says: `There is no file or folder "${word.value}".`, constraint: PATH, word, near: meant.map(quoted) }
  }
  return undefined
}

/** As a word of its own, or as the end of a longer path. */
function holds(line: string, path: string): boolean {
  const name = path.replace(/^\.\//, '').replace(/\/+$/, '')
  for (let at = line.indexOf(name); at !== -1 && name !== ''; at = line.indexOf(name, at + 1))
    if (!/[\w.-]/.test(line[at - 1] ?? ' ') && !/[\w/-]/.test(line[at + name.length] ?? ' ')) return true
  return false
}

const ownerOf = (commands: readonly SimpleCommand[], word: ScriptWord): SimpleCommand | undefined =>
  commands.find(({ words, inputs }) => words.includes(word) || inputs.includes(word))

const isSame = ({ words }: Unsafe, owner: SimpleCommand): boolean =>
  words.length === owner.words.length && words.every((word, at) => word === owner.words[at]?.value)

/** They go from one operand to the next: what stands before the wrong one has been done. */
const ONE_BY_ONE: Readonly<Record<string, number>> = {
  ...{ rm: 1, rmdir: 1, touch: 1, mv: 2, cp: 2, ln: 2, chmod: 2, chown: 2, chgrp: 2 },
  // What they had read stands where they write to.
  ...{ cat: 1, head: 1, tail: 1, wc: 1 },
}
/** They begin with the script that is their first operand. */
const RUNS_SCRIPT = /^(?:python[\d.]*|node|nodejs|deno|bun|ruby|perl|php|bash|sh|dash|zsh|source|\.)$/
/** What they start is not all that they do. */
const DOES_MORE = /^(?:.*\/)?(?:find|fd|fdfind|parallel)$/

/** Nothing but reading can have been done before it failed, so that the whole can be run again. */
function isRepeatable({ commands, unsafe }: Attempt, word: ScriptWord, isProgram: boolean): boolean {
  if (isProgram) return unsafe.every((one) => isNotThere(one, word.value))
  const owner = ownerOf(commands, word)
  if (!owner) return unsafe.length === 0
  if (unsafe.some((one) => !isSame(one, owner))) return false
  if (unsafe.length === 0 || owner.inputs.includes(word)) return true
  const { name, words } = started(owner)
  const operands = words.slice(1).filter(({ value }) => !value.startsWith('-'))
  if (RUNS_SCRIPT.test(name)) return words[1] === word
  return Object.hasOwn(ONE_BY_ONE, name) && operands.length <= (ONE_BY_ONE[name] as number)
}

/** It did nothing, because its program is not there. */
const isNotThere = ({ name, words }: Unsafe, program: string): boolean =>
  words.includes(program) && name === program.slice(program.lastIndexOf('/') + 1) && !words.some((word) => DOES_MORE.test(word))

function refusal(attempt: Attempt, { says, constraint, word, near }: Wrong): ModelRetry {
  const { script, commands, content } = attempt
  const repeatable = isRepeatable(attempt, word, constraint !== PATH)
  const before = repeatable ? '' : ' What stands before it in the command may have been done.'
  const moved = commands.some(({ name }) => /^(?:cd|pushd)$/.test(name))
  const [best, ...others] = near
  // From another folder it would be another path.
  const works = best !== undefined && repeatable && !(moved && constraint === PATH)
  const fixed = works ? withWord(script, word, best) : undefined
  const names = near.length > 0 && fixed === undefined ? ` Nearest: ${near.slice(0, 3).join(', ')}.` : ''
  return new ModelRetry(`${says}${before}${names}`, {
    errorType: 'not_found',
    parameter: 'command',
    value: script,
    constraint,
    ...(fixed !== undefined && { suggestion: fixed }),
    ...(fixed !== undefined && others.length > 0 && { candidates: others.slice(0, MAX_OTHERS).map((one) => withWord(script, word, one)) }),
    ...(content !== '' && { content }),
  })
}

/** What the shell itself could not read, where the parser could. */
function syntax({ script, exitCode, stderr, content }: Attempt): ModelRetry | undefined {
  const says =
    exitCode === 2
      ? /^(?:\S*\/)?(?:ba|da)?sh: (?:-c: )?(?:line )?(\d+): (.*(?:[Ss]yntax error|unexpected EOF|unexpected end of file).*)$/m.exec(stderr)
      : null
  if (!says) return undefined
  return new ModelRetry(`The shell cannot read the command, at line ${says[1]}: ${says[2]}.`, {
    parameter: 'command',
    value: script,
    constraint: 'a command that the shell can read',
    content,
  })
}
