/** Finds mistakes in a command's text before anyone is asked to approve it. */
import type { Issue } from '@mulligan/core/executor'
import { parse } from 'unbash'
import { isParsable } from '../command-policy/script.ts'
import { isCommandError, type SessionSandbox } from '../common/sandbox.ts'
import { type SimpleCommand, simpleCommands, started, withWord } from '../common/simple-commands.ts'
import type { ShellCall, ShellSession } from './session.ts'

/** Seconds. */
const CHECK_TIMEOUT = 10

export function wrongBefore({ sandbox }: ShellSession, { command, background }: ShellCall): Issue | undefined | Promise<Issue | undefined> {
  const issue = (constraint: string, suggestion: string | undefined): Issue => ({
    path: ['command'],
    keyword: 'refinement',
    value: command,
    constraint,
    ...(suggestion !== undefined && { suggestion }),
  })
  const problem = syntaxProblem(command)
  if (!problem) {
    const waits = waitsForKeys(command, simpleCommands(command), background)
    return waits && issue(`a command that needs no keyboard: ${waits.says}`, waits.fixed)
  }
  const { message, line, column, fixed } = problem
  const found = issue(`a command that the shell can read: ${message} at line ${line}, column ${column}`, fixed)
  return isRead(sandbox, command).then((read) => (read ? undefined : found))
}

/** Lets the shell itself decide, by reading the script without running it. */
const isRead = async (sandbox: SessionSandbox, script: string): Promise<boolean> =>
  sandbox
    .get()
    .then((open) => open.run({ argv: ['bash', '-n'], stdin: script, timeout: CHECK_TIMEOUT }))
    .then(
      // bash accepts an unterminated here-document.
      ({ stderr }) => !stderr.includes('warning: here-document'),
      // If bash is not available, running the script will show the error.
      (error: unknown) => !isCommandError(error) || error.completed.exitCode === 127,
    )

/** When a program waits for keyboard input. Without a condition: always. */
interface When {
  /** `only`: requires one of these arguments. `but`: excludes these arguments. */
  readonly only?: RegExp
  readonly but?: RegExp
  /** Only if stdin is not redirected. */
  readonly unfed?: true
  /** `alone`: only without arguments. `operands`: only with at most this many arguments that are not options. */
  readonly alone?: true
  readonly operands?: number
  /** Unless this variable is set. */
  readonly unset?: string
  /** A working form: `by` replaces the name, `add` is inserted after the matched names. */
  readonly by?: string
  readonly add?: string
}
/** Matches the name or the first two words; `instead` continues the sentence "NAME waits for a keyboard: ". */
type Interactive = readonly [names: RegExp, instead: string, when?: When]

const VERSION = /^(?:--version|--help|-V|-v|-h)$/
const ALONE: When = { unfed: true, alone: true }
const INTERACTIVE: readonly Interactive[] = [
  [
    /^(?:vim|vi|nvim|view|nano|pico|emacs|micro|hx|mcedit|joe)$/,
    'read with read_file, change with edit_file',
    { but: /^(?:--version|--help|-V|-v|-h|-\w*[eE]s\w*|--batch|-batch|--headless)$/ },
  ],
  [/^(?:less|more|most)$/, 'cat prints all of it', { but: VERSION, by: 'cat' }],
  [/^top$/, 'top -b -n 1 prints it once', { but: /^-\w*[bhlv]/, add: '-b -n 1' }],
  [/^(?:htop|btop|atop|nmon|glances)$/, 'ps aux prints the processes', { but: VERSION }],
  [/^(?:ssh|telnet)$/, 'give the command to be run there, with -o BatchMode=yes', { but: /^-[VGQ]/, operands: 1 }],
  [/^s?ftp$/, 'give the commands in a file, with -b', { unfed: true, but: /^-\w*b/ }],
  [/^(?:python[23]?|[ib]python)$/, "give the code with -c '…', or a file", ALONE],
  [/^(?:node|bun|deno|ruby|irb|php|julia|lua|R|ghci|scala|jshell)$/, "give the code (-e '…'), or a file", ALONE],
  [/^(?:bash|sh|zsh|dash|fish|ksh)$/, "give the commands with -c '…', or directly", ALONE],
  [/^psql$/, "give the statement with -c '…'", { unfed: true, but: /^(?:-\w*[cflV]|--command|--file|--list|--version|--help)/ }],
  [/^(?:mysql|mariadb)$/, "give the statement with -e '…'", { unfed: true, but: /^(?:-\w*[eV?]|--execute|--version|--help)/ }],
  [/^sqlite3$/, 'give the statement as the second argument', { unfed: true, operands: 1, but: /^(?:--?version|--help|-[Vvh])$/ }],
  [/^(?:redis-cli|mongosh|mongo)$/, 'give the command as arguments', ALONE],
  [/^(?:gdb|lldb)$/, "run it with --batch -ex '…'", { unfed: true, but: /^-{1,2}(?:batch|version|help)/ }],
  [
    /^(?:tmux|screen)$/,
    'start what goes on with background=true',
    { but: /^(?:-\w*[dV]\w*|ls|list-\w+|kill-\w+|send-keys|capture-pane|-ls|-list|-wipe|-X)$/ },
  ],
  [
    /^(?:passwd|su|visudo|vipw|chsh|fzf|dialog|whiptail|ranger|nnn|lazygit|tig)$/,
    'there is no other form; ask the person',
    { unfed: true, but: /^(?:--version|--help|-V|-v|-h|-\w*c)$|^--command/ },
  ],
  [/^crontab$/, 'a person edits that', { only: /^-\w*e/ }],
  [/^watch$/, 'run the command itself, once'],
  [/^tail$/, 'it never ends; read the end with -n, or give background=true', { unfed: true, only: /^(?:-\w*[fF]|--follow|--retry)/ }],
  [/^journalctl$/, 'it never ends; leave out -f, or give background=true', { only: /^(?:-\w*f|--follow)/ }],
  [
    /^(?:npm|pnpm|yarn|bun) init$/,
    '-y takes the defaults',
    { unfed: true, operands: 0, but: /^(?:-\w*[yw]|--yes|--force|-f|--workspace)/, add: '-y' },
  ],
  [
    /^git commit$/,
    "give the message with -m '…' (or --no-edit)",
    { but: /^(?:-[a-z]*[mFCct](?!-)|--message|--file|--reuse-message|--no-edit|--amend|--fixup|--squash|--dry-run|--help|-h)/ },
  ],
  [
    /^git rebase$/,
    'set GIT_SEQUENCE_EDITOR for it to a command that edits the list of steps (`:` leaves it as it is)',
    { only: /^(?:-\w*i|--interactive|--edit-todo)$/, unset: 'GIT_SEQUENCE_EDITOR' },
  ],
  [
    /^git add$/,
    'name the files, or apply a patch with git apply --cached',
    { unfed: true, only: /^(?:-\w*[pie]|--patch|--interactive|--edit)$/ },
  ],
  [/^git (?:checkout|restore|reset|stash)$/, 'name the files', { unfed: true, only: /^(?:-p|--patch)$/ }],
  [/^git (?:mergetool|difftool|gui|citool)$/, 'change the files themselves'],
  [/^git clean$/, 'name the files', { unfed: true, only: /^(?:-\w*i|--interactive)$/ }],
  [/^(?:docker|podman) (?:run|exec)$/, 'leave out -it', { unfed: true, only: /^-(?:it|ti)$/ }],
  [
    /^(?:npm|gh|az|gcloud|firebase|vercel|heroku) (?:login|adduser)$|^gh auth$/,
    'a person logs in',
    { but: /^(?:--with-token|status|--status|token)$/ },
  ],
]
/** Programs allowed with `background` or `timeout`. */
const ENDLESS = /^(?:tail|journalctl|watch)$/

/**
 * Finds the first command that would wait for keyboard input.
 * @param background whether the command may run indefinitely
 */
export function waitsForKeys(script: string, commands: readonly SimpleCommand[], background: boolean) {
  for (const command of commands) {
    const inner = started(command)
    if ((background || command.words[0]?.value === 'timeout') && ENDLESS.test(inner.name)) continue
    const pair = inner.words.slice(0, 2).map(({ value }, at) => (at === 0 ? inner.name : value))
    for (const [names, instead, when = {}] of INTERACTIVE) {
      const length = names.test(inner.name) ? 1 : names.test(pair.join(' ')) ? 2 : 0
      if (length === 0 || !waits(when, inner, length)) continue
      // The script defines a function of this name.
      if (script.includes(`${inner.name}()`)) return undefined
      const fixed = fixedBy(script, inner, when, length)
      const says = `${pair.slice(0, length).join(' ')} waits for a keyboard, and nobody is there: ${instead}`
      return { says, ...(fixed !== undefined && { fixed }) }
    }
  }
  return undefined
}

function waits({ only, but, unfed, alone, operands, unset }: When, { words, fed, sets }: SimpleCommand, from: number): boolean {
  const args = words.slice(from).map(({ value }) => value)
  if ((unfed && fed) || (alone && args.length > 0) || (unset !== undefined && sets.includes(unset))) return false
  if (operands !== undefined && args.filter((word) => !word.startsWith('-')).length > operands) return false
  return (!only || args.some((word) => only.test(word))) && !(but && args.some((word) => but.test(word)))
}

function fixedBy(script: string, { words }: SimpleCommand, { by, add }: When, length: number): string | undefined {
  const [name, last] = [words[0], words[length - 1]]
  if (!name || !last) return undefined
  // The replacement does not take the same options.
  if (by !== undefined) return words.some(({ value }) => value.startsWith('-')) ? undefined : withWord(script, name, by)
  return add === undefined ? undefined : withWord(script, { ...last, pos: last.end }, ` ${add}`)
}

/** Maximum length in characters of scripts for which repairs are suggested. */
const MAX_REPAIRED = 10_000

/** Returns where the syntax breaks (counted from 1), and a repaired script if one parses. */
export function syntaxProblem(script: string) {
  const [first] = isParsable(script) ? (parse(script).errors ?? []) : []
  if (first === undefined) return undefined
  const before = script.slice(0, first.pos).split('\n')
  const fixed = script.length > MAX_REPAIRED ? undefined : repairs(script).find((one) => !parse(one).errors?.length)
  return { message: first.message, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, ...(fixed !== undefined && { fixed }) }
}

const CLOSERS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/double quote/, ['"']],
  [/single quote/, ["'"]],
  [/backtick/, ['`']],
  [/command substitution/, [')', '")']],
  [/parameter expansion/, ['}', '}"']],
  [/arithmetic/, ['))']],
  [/'fi'/, ['; fi', '\nfi']],
  [/'done'/, ['; done', '\ndone']],
  [/'esac'/, ['; esac', '\nesac', ';; esac']],
  [/'\}'|brace group/, ['; }', '\n}']],
  [/'\)'|subshell/, [')']],
]

/** Returns scripts that may have been intended, likeliest first. */
function repairs(script: string): string[] {
  const trimmed = script.trimEnd()
  const once = closed(trimmed, parse(script).errors?.[0]?.message)
  const cut = /^([\s\S]*?)\s*(?:&&|\|\||\|&?)$/.exec(trimmed)?.[1]
  return [...once, ...(cut ? [cut] : []), ...once.flatMap((one) => closed(one, parse(one).errors?.[0]?.message))]
}

/** Appends each closer; after `;`, `; fi` becomes `fi`. */
const closed = (script: string, message = ''): string[] =>
  CLOSERS.filter(([pattern]) => pattern.test(message)).flatMap(([, closers]) =>
    closers.map((closer) => script + (/[;&\n]$/.test(script) ? closer.replace(/^;(?!;)/, '') : closer)),
  )
