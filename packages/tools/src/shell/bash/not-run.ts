/** Suggests a correction for a command that could not be run as written. */
import { posix } from 'node:path'
import { ModelRetry } from '@mulligan/core'
import type { Completed } from '@mulligan/sandbox'
import { baseName, quoted, type ScriptWord, type SimpleCommand, started, withWord } from '../common/simple-commands.ts'
import { type Around, inPlaceOf, isInstalled, missingIn } from './around.ts'

/** A command that may do more than read, with the program that finally runs. */
export interface Unsafe {
  readonly name: string
  readonly words: readonly string[]
}

interface Attempt extends Pick<Completed, 'exitCode' | 'stdout' | 'stderr'> {
  readonly script: string
  readonly commands: readonly SimpleCommand[]
  readonly unsafe: readonly Unsafe[]
  readonly content: string
}

/** The parts of a refusal. */
interface Wrong {
  readonly says: string
  readonly constraint: string
  readonly word: ScriptWord
  /** Replacements for the word, best first. */
  readonly near: readonly string[]
}

/** Returns the refusal with its suggestion, or undefined if the command itself ran and failed. */
export async function notRun(attempt: Attempt, around: Around): Promise<ModelRetry | undefined> {
  const missing = missingIn(attempt.exitCode, attempt.stderr)
  const tool = missing && toolAsCommand(attempt.script, missing.name)
  if (tool) return tool
  const wrong = (missing && (await noProgram(attempt, missing, around))) ?? (await noPath(attempt, around))
  return wrong ? refusal(attempt, wrong) : syntax(attempt)
}

type Missing = NonNullable<ReturnType<typeof missingIn>>

async function noProgram({ script, commands }: Attempt, { name, how }: Missing, around: Around): Promise<Wrong | undefined> {
  const word = commands.flatMap(({ words }) => words).find(({ value }) => value === name) ?? onlyPlace(script, name)
  // The program was looked up by another program, not by the shell.
  if (!word) return undefined
  const programs = async (paths: readonly string[]): Promise<string[]> =>
    (await Promise.all(paths.map((path) => asProgram(path, around)))).filter((one) => one !== undefined)
  if (how === 'not_executable')
    return { says: `"${name}" is not executable.`, constraint: 'a program that is executable', word, near: await programs([name]) }
  if (name.includes('/')) {
    const near = await programs((await around.nearest(name)) ?? [])
    return { says: `There is no program "${name}".`, constraint: 'a program that is there', word, near }
  }
  const near = inPlaceOf(name, await around.known())
  const install = near.length === 0 && isInstalled(name) ? ' Ask a person to install it, or do without it.' : ''
  return { says: `There is no command "${name}" in the sandbox.${install}`, constraint: 'a command that exists in the sandbox', word, near }
}

/** Locates a name that occurs only once, inside a substitution. */
function onlyPlace(script: string, name: string): ScriptWord | undefined {
  const [only, another] = [...script.matchAll(/[\w./+-]+/g)].filter(([word]) => word === name)
  return only && !another ? { value: name, pos: only.index, end: only.index + name.length } : undefined
}

const BY_ENDING: Readonly<Record<string, string>> = {
  ...{ sh: 'bash', bash: 'bash', py: 'python3', rb: 'ruby', pl: 'perl', php: 'php' },
  ...{ js: 'node', mjs: 'node', cjs: 'node', ts: 'node' },
}

/** Returns how to run a file, or undefined if that cannot be determined. */
async function asProgram(path: string, around: Around): Promise<string | undefined> {
  const { executable, firstLine } = await around.file(path)
  const named = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(?:\S*\/)?([\w.+-]+)/.exec(firstLine)?.[1]
  const program = named ?? BY_ENDING[/\.(\w+)$/.exec(path)?.[1] ?? '']
  if (executable) return path.includes('/') ? quoted(path) : `./${quoted(path)}`
  return program && `${program} ${quoted(path)}`
}

const PATH = 'a path that exists'
/** Further suggestions, each of them a whole script. */
const MAX_OTHERS = 2
/** Lines that report a path as missing. */
const NOT_THERE =
  /no such file|cannot find (?:the )?(?:file|path|module)|can't (?:open|find|cd)|cannot (?:open|access|stat)|file not found|not found:|does not exist|ENOENT/i
/** Words that may be paths: not options, and nothing that the shell would expand. */
const PLAIN = /^[^-$*?`~{}[\]<>|&;!\s][^$*?`{}[\]<>|&;\s]*$/
const MAX_LINES = 200
const MAX_WORDS = 50

async function noPath({ commands, unsafe, stdout, stderr }: Attempt, around: Around): Promise<Wrong | undefined> {
  const lines = [stderr, stdout].flatMap((text) => text.split('\n').slice(-MAX_LINES)).filter((line) => NOT_THERE.test(line))
  if (lines.length === 0) return undefined
  const words = commands.flatMap(({ words: [, ...args], inputs }) => [...args, ...inputs])
  for (const word of words.filter(({ value }) => PLAIN.test(value)).slice(0, MAX_WORDS)) {
    const near = lines.some((line) => holds(line, word.value)) ? await around.nearest(word.value) : undefined
    if (near === undefined) continue
    const owner = ownerOf(commands, word)
    const reads = !unsafe.some((one) => owner && isSame(one, owner))
    const meant = near.filter((one) => reads || posix.extname(one) === posix.extname(word.value))
    return { says: `There is no file or folder "${word.value}".`, constraint: PATH, word, near: meant.map(quoted) }
  }
  return undefined
}

/** True if the line contains the path as a whole word or as the end of a longer path. */
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

/** Programs that process their operands in order: those before the wrong one have already been processed (or, for `cat`, printed). */
const ONE_BY_ONE: Readonly<Record<string, number>> = {
  ...{ rm: 1, rmdir: 1, touch: 1, mv: 2, cp: 2, ln: 2, chmod: 2, chown: 2, chgrp: 2 },
  ...{ cat: 1, head: 1, tail: 1, wc: 1 },
}
/** Programs whose first operand is the script they run. */
const RUNS_SCRIPT = /^(?:python[\d.]*|node|nodejs|deno|bun|ruby|perl|php|bash|sh|dash|zsh|source|\.)$/
/** Programs that do more than start other commands. */
const DOES_MORE = /^(?:.*\/)?(?:find|fd|fdfind|parallel)$/

/** True if nothing but reading can have happened before the failure, so the whole command can be run again. */
function isRepeatable({ commands, unsafe }: Attempt, word: ScriptWord, isProgram: boolean): boolean {
  if (isProgram) return unsafe.every((one) => isNotThere(one, word.value))
  const owner = ownerOf(commands, word)
  if (!owner) return unsafe.length === 0
  if (unsafe.some((one) => !isSame(one, owner))) return false
  if (unsafe.length === 0 || owner.inputs.includes(word)) return true
  const { name, words } = started(owner)
  if (RUNS_SCRIPT.test(name)) return words[1] === word
  const operands = words.slice(1).filter(({ value }) => !value.startsWith('-'))
  return Object.hasOwn(ONE_BY_ONE, name) && operands.length <= (ONE_BY_ONE[name] as number)
}

/** True if the command did nothing because its program is missing. */
const isNotThere = ({ name, words }: Unsafe, program: string): boolean =>
  words.includes(program) && name === baseName(program) && !words.some((word) => DOES_MORE.test(word))

function refusal(attempt: Attempt, { says, constraint, word, near: [best, ...others] }: Wrong): ModelRetry {
  const { script, commands, content } = attempt
  const repeatable = isRepeatable(attempt, word, constraint !== PATH)
  const before = repeatable ? '' : ' What comes before it in the command may have taken effect.'
  // After a `cd`, the path would mean something else.
  const isElsewhere = constraint === PATH && commands.some(({ name }) => /^(?:cd|pushd)$/.test(name))
  const details = { errorType: 'not_found', parameter: 'command', value: script, constraint, ...(content !== '' && { content }) } as const
  if (best === undefined) return new ModelRetry(says + before, details)
  if (!repeatable || isElsewhere) return new ModelRetry(`${says}${before} Nearest: ${[best, ...others].slice(0, 3).join(', ')}.`, details)
  return new ModelRetry(says, {
    ...details,
    suggestion: withWord(script, word, best),
    ...(others.length > 0 && { candidates: others.slice(0, MAX_OTHERS).map((one) => withWord(script, word, one)) }),
  })
}

/** Syntax errors from the shell that the parser did not detect. */
const SYNTAX = /^(?:\S*\/)?(?:ba|da)?sh: (?:-c: )?(?:line )?(\d+): (.*(?:[Ss]yntax error|unexpected EOF|unexpected end of file).*)$/m

function syntax({ script, exitCode, stderr, content }: Attempt): ModelRetry | undefined {
  const [, line, says] = (exitCode === 2 && SYNTAX.exec(stderr)) || []
  const wrong = { parameter: 'command', value: script, constraint: 'a command that the shell can read', content }
  return line === undefined ? undefined : new ModelRetry(`The shell cannot read the command, at line ${line}: ${says}.`, wrong)
}

/** Tools that models call as if they were shell commands. */
const TOOLS = new Set(
  'apply_patch read_file write_file edit_file str_replace move_file delete_file make_dir list_dir web_fetch web_search update_plan todo git_commit'.split(
    ' ',
  ),
)
const END = '*** End Patch'

export function toolAsCommand(script: string, name: string): ModelRetry | undefined {
  if (!TOOLS.has(name)) return undefined
  const [from, to] = [script.indexOf('*** Begin Patch'), script.lastIndexOf(END)]
  const isPatch = name === 'apply_patch' && from !== -1 && to > from
  return new ModelRetry(`"${name}" is a tool, not a command: call it by itself, not through bash.`, {
    parameter: 'command',
    value: script,
    constraint: 'a command of the shell',
    ...(isPatch && { call: { tool: name, input: { patch: `${script.slice(from, to)}${END}\n` } } }),
  })
}
