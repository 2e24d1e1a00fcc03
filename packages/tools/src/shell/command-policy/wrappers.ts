/** Programs that run other programs or text given to them. */

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Programs that take a command after their own options and operands. */
const WRAPPERS = new Set(
  `sudo doas pkexec env nice ionice chrt taskset nohup setsid timeout stdbuf time command builtin exec noglob nocorrect coproc unbuffer
  fakeroot firejail catchsegv caffeinate torsocks proxychains proxychains4 setarch linux32 linux64 numactl strace ltrace valgrind unshare
  nsenter chroot setpriv capsh gosu su-exec systemd-run systemd-inhibit dbus-run-session xvfb-run busybox toybox watch flock entr gdb
  faketime dotenv direnv mise asdf xargs parallel find fd fdfind jobs docker podman nerdctl kubectl ssh su runuser script sg`.split(/\s+/),
)
export const SHELL = /^(?:sh|bash|dash|zsh|ksh|ash|mksh|rbash|fish|csh|tcsh)$/
export const INTERPRETER =
  /^(?:python[\d.]*|pypy3?|perl[\d.]*|ruby[\d.]*|node|nodejs|deno|bun|php\d*|lua[\d.]*|tclsh|Rscript|osascript|pwsh|powershell|tsx|ts-node)$/

/** Programs that read a script from text, a file or stdin, or change the meaning of later commands. */
const ONCE = new Set(
  `eval source . xargs parallel at batch crontab ed ex patch bc dc export declare typeset local readonly alias unalias set unset shopt
  enable hash trap exec builtin command read mapfile readarray printf getopts let coproc pushd popd dirs bind complete umask ulimit
  tee ssh su sudo doas watch busybox toybox script flock`.split(/\s+/),
)

/**
 * Returns true if approval of a literal command only ever covers a single call, because it reads commands from elsewhere or changes the
 * meaning of others. For any other command, the words alone show what it does.
 *
 * @param isFed its input comes from another part of the script
 */
export const isOnlyOnce = (words: readonly string[], isFed: boolean): boolean =>
  isFed || isTooLong(words) || [words, ...tails(words)].some(readsElsewhere)

function readsElsewhere([program = '', ...args]: readonly string[]): boolean {
  const name = baseName(program)
  if (ONCE.has(name) || SHELL.test(name)) return true
  if (args.some((word) => word === '-' || /^(?:\/dev\/(?:stdin|fd\/)|\/proc\/(?:self|thread-self|\d+)\/fd\/)/.test(word))) return true
  return INTERPRETER.test(name) && args.every((word) => word.startsWith('-')) && !args.some((word) => /^--?(?:v|V|version)$/.test(word))
}

const MAX_TAILS = 100

/** Returns the commands a wrapper might run: every tail of its words, because this does not know which options take a value. */
export function tails(words: readonly string[]): readonly (readonly string[])[] {
  const [first = '', ...args] = words
  if (!WRAPPERS.has(baseName(first))) return []
  return args.slice(0, MAX_TAILS).map((_, at) => args.slice(at))
}

/** True if there are more tails than are checked. */
export const isTooLong = (words: readonly string[]): boolean => WRAPPERS.has(baseName(words[0] ?? '')) && words.length > MAX_TAILS

/** True if the command runs text only known at run time, so its words say nothing about it. */
export function runsOtherText([program = '', ...args]: readonly string[]): boolean {
  const name = baseName(program)
  if (/^(?:source|\.|alias|eval)$/.test(name)) return true
  return (
    (SHELL.test(name) || INTERPRETER.test(name)) &&
    (SHELL.test(name) || args.length === 0 || args.some((word) => /^-(?:\w*[ceEpr])?$/.test(word)))
  )
}

const GIT_VALUES = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--config-env', '--attr-source'])

/** Reduces `git -C a tag x` to `git tag x`. */
export function withoutGitOptions(words: readonly string[]): readonly string[] {
  let at = 1
  for (; words[at]?.startsWith('-') === true; at++) if (GIT_VALUES.has(words[at] ?? '')) at++
  return ['git', ...words.slice(at)]
}
