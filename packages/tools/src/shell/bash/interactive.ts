/** Programs that wait for somebody at a keyboard. Nobody is there: each is refused with the form that needs nobody. Pure. */
import { type SimpleCommand, started, withWord } from '../common/simple-commands.ts'

export interface Waits {
  /** What waits, and what to run instead. */
  readonly says: string
  /** The whole script in a form that works. */
  readonly fixed?: string
}

interface Kind {
  readonly names: string
  /** Of the words after the name; default: always. */
  readonly when?: (args: readonly string[], command: SimpleCommand) => boolean
  /** Continues "NAME waits for a keyboard: ". */
  readonly instead: string
  /** What to write in place of the name. */
  readonly by?: string
  /** What to add after the name, or, for `git commit`, after its subcommand. */
  readonly add?: string
}

const has = (args: readonly string[], pattern: RegExp): boolean => args.some((word) => pattern.test(word))
/** Words that are no options. */
const operands = (args: readonly string[]): string[] => args.filter((word) => !word.startsWith('-'))
const isAlone = (args: readonly string[], { fed }: SimpleCommand): boolean => !fed && args.length === 0
const answersVersion = (args: readonly string[]): boolean => has(args, /^(?:--version|--help|-V|-v|-h)$/)

const KINDS: readonly Kind[] = [
  {
    names: 'vim vi nvim view nano pico emacs micro hx mcedit joe',
    when: (args) => !answersVersion(args) && !has(args, /^(?:-\w*[eE]s\w*|--batch|-batch|--headless)$/),
    instead: 'read with read_file, change with edit_file',
  },
  { names: 'less more most', when: (args) => !answersVersion(args), instead: 'cat prints all of it', by: 'cat' },
  { names: 'top', when: (args) => !has(args, /^-\w*[bhlv]/), instead: 'top -b -n 1 prints it once', add: '-b -n 1' },
  { names: 'htop btop atop nmon glances', when: (args) => !answersVersion(args), instead: 'ps aux prints the processes' },
  {
    names: 'ssh telnet',
    when: (args) => !has(args, /^-[VGQ]/) && operands(args).length <= 1,
    instead: 'give the command to be run there, with -o BatchMode=yes',
  },
  { names: 'ftp sftp', when: (args, command) => !command.fed && !has(args, /^-\w*b/), instead: 'give the commands in a file, with -b' },
  { names: 'python python2 python3 ipython bpython', when: isAlone, instead: "give the code with -c '…', or a file" },
  { names: 'node bun deno ruby irb php julia lua R ghci scala jshell', when: isAlone, instead: "give the code (-e '…'), or a file" },
  { names: 'bash sh zsh dash fish ksh', when: isAlone, instead: "give the commands with -c '…', or directly" },
  {
    names: 'psql',
    when: (args, { fed }) => !fed && !has(args, /^(?:-\w*[cflV]|--command|--file|--list|--version|--help)/),
    instead: "give the statement with -c '…'",
  },
  {
    names: 'mysql mariadb',
    when: (args, { fed }) => !fed && !has(args, /^(?:-\w*[eV?]|--execute|--version|--help)/),
    instead: "give the statement with -e '…'",
  },
  {
    names: 'sqlite3',
    when: (args, { fed }) => !fed && operands(args).length < 2 && !answersVersion(args) && !has(args, /^-{1,2}version$/),
    instead: 'give the statement as the second argument',
  },
  { names: 'redis-cli mongosh mongo', when: isAlone, instead: 'give the command as arguments' },
  {
    names: 'gdb lldb',
    when: (args, { fed }) => !fed && !has(args, /^-{1,2}(?:batch|version|help)/),
    instead: "run it with --batch -ex '…'",
  },
  {
    names: 'tmux screen',
    when: (args) => !has(args, /^(?:-\w*[dV]\w*|ls|list-\w+|kill-\w+|send-keys|capture-pane|-ls|-list|-wipe|-X)$/),
    instead: 'start what goes on with background=true',
  },
  {
    names: 'passwd su visudo vipw chsh fzf dialog whiptail ranger nnn lazygit tig',
    when: (args, { fed }) => !fed && !answersVersion(args) && !has(args, /^-\w*c$|^--command/),
    instead: 'there is no other form; ask the person',
  },
  { names: 'crontab', when: (args) => has(args, /^-\w*e/), instead: 'a person edits that' },
  { names: 'watch', instead: 'run the command itself, once' },
  {
    names: 'tail',
    when: (args, { fed }) => !fed && has(args, /^(?:-\w*[fF]|--follow|--retry)/),
    instead: 'it never ends; read the end with -n, or give background=true',
  },
  {
    names: 'journalctl',
    when: (args) => has(args, /^(?:-\w*f|--follow)/),
    instead: 'it never ends; leave out -f, or give background=true',
  },
]

/** The same by the first two words. */
const OF_TWO: readonly (Omit<Kind, 'names' | 'when'> & {
  readonly names: RegExp
  readonly when: (args: readonly string[], command: SimpleCommand) => boolean
})[] = [
  {
    names: /^(?:npm|pnpm|yarn|bun) init$/,
    when: (args, { fed }) => !fed && operands(args).length === 0 && !has(args, /^(?:-\w*[yw]|--yes|--force|-f|--workspace)/),
    instead: '-y takes the defaults',
    add: '-y',
  },
  {
    names: /^git commit$/,
    when: (args) =>
      !has(args, /^(?:-[a-z]*[mFCct](?!-)|--message|--file|--reuse-message|--no-edit|--amend|--fixup|--squash|--dry-run|--help|-h)/),
    instead: "give the message with -m '…' (or --no-edit)",
  },
  {
    names: /^git rebase$/,
    when: (args, { sets }) => has(args, /^(?:-\w*i|--interactive|--edit-todo)$/) && !sets.includes('GIT_SEQUENCE_EDITOR'),
    instead: 'set GIT_SEQUENCE_EDITOR for it to a command that edits the list of steps (`:` leaves it as it is)',
  },
  {
    names: /^git add$/,
    when: (args, { fed }) => !fed && has(args, /^(?:-\w*[pie]|--patch|--interactive|--edit)$/),
    instead: 'name the files, or apply a patch with git apply --cached',
  },
  {
    names: /^git (?:checkout|restore|reset|stash)$/,
    when: (args, { fed }) => !fed && has(args, /^(?:-p|--patch)$/),
    instead: 'name the files',
  },
  { names: /^git (?:mergetool|difftool|gui|citool)$/, when: () => true, instead: 'change the files themselves' },
  { names: /^git (?:add|clean)$/, when: (args, { fed }) => !fed && has(args, /^(?:-\w*i|--interactive)$/), instead: 'name the files' },
  {
    names: /^docker (?:run|exec)$|^podman (?:run|exec)$/,
    when: (args, { fed }) => !fed && has(args, /^-(?:it|ti)$/),
    instead: 'leave out -it',
  },
  {
    names: /^(?:npm|gh|az|gcloud|firebase|vercel|heroku) (?:login|adduser)$|^gh auth$/,
    when: (args) => !has(args, /^(?:--with-token|status|--status|token)$/),
    instead: 'a person logs in',
  },
]

/** @param background it may go on for ever then */
export function waitsForKeys(script: string, commands: readonly SimpleCommand[], background: boolean): Waits | undefined {
  for (const command of commands) {
    const inner = started(command)
    const bounded = command.words[0]?.value === 'timeout'
    const kind = kindOf(inner)
    if (!kind || ((background || bounded) && ENDLESS.has(inner.name))) continue
    // A function of the script's own waits for nobody.
    if (script.includes(`${inner.name}()`)) return undefined
    const name = kind.two
      ? inner.words
          .slice(0, 2)
          .map(({ value }) => value)
          .join(' ')
      : inner.name
    const fixed = fixedBy(script, inner, kind)
    return { says: `${name} waits for a keyboard, and nobody is there: ${kind.instead}`, ...(fixed !== undefined && { fixed }) }
  }
  return undefined
}

const ENDLESS = new Set(['tail', 'journalctl', 'watch'])

function kindOf(
  command: SimpleCommand,
): { readonly instead: string; readonly by?: string; readonly add?: string; readonly two: boolean } | undefined {
  const [, ...args] = command.words.map(({ value }) => value)
  const one = BY_NAME.get(command.name)
  if (one && (one.when?.(args, command) ?? true)) return { ...one, two: false }
  const pair = `${command.name} ${args[0] ?? ''}`
  const two = OF_TWO.find(({ names, when }) => names.test(pair) && when(args.slice(1), command))
  return two && { ...two, two: true }
}

const BY_NAME = new Map(KINDS.flatMap((kind) => kind.names.split(' ').map((name) => [name, kind] as const)))

function fixedBy(
  script: string,
  { words }: SimpleCommand,
  { by, add, two }: { by?: string; add?: string; two: boolean },
): string | undefined {
  const [name, second] = words
  if (!name) return undefined
  // Its options are its own.
  if (by !== undefined) return words.some(({ value }) => value.startsWith('-')) ? undefined : withWord(script, name, by)
  const after = two ? second : name
  return add === undefined || !after ? undefined : withWord(script, { ...after, pos: after.end }, ` ${add}`)
}
