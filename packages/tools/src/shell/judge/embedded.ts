/** Code in arguments of interpreters, and commands in arguments of other programs: only what is plainly destructive is seen. */
import { absolute, vital } from './paths.ts'
import { isSecret } from './secrets.ts'
import { deny, type Finding, type Place } from './types.ts'
import { INTERPRETERS } from './unwrap.ts'
import type { Arg } from './value.ts'

const CODE = /^(?:-[a-zA-Z]*[ceErp]|--eval|--print|--execute|eval|-command|-Command)$/
const REMOVES =
  /rmtree|rmSync|rmdirSync|unlinkSync|\brm(?:dir)?\s*\(|rm_rf|rm_r\b|remove_tree|removedirs|rimraf|delete_tree|Remove-Item|RemoveAll|remove_dir_all|os\.remove|unlink|FileUtils\.(?:rm|remove)|os\.system|subprocess|child_process|execSync|\bsystem\b|shell_exec|passthru|\bexec\b|popen|spawn|%x|qx|`/
const DECODES =
  /b64decode|base64|fromhex|unhexlify|\batob\b|from_base64|decode64|base64_decode|pack\s*\(|rot_?13|codecs\.decode|zlib\.decompress|fromCharCode|chr\s*\(/i
const RUNS = /\b(?:exec|eval|compile|system|popen|execSync|spawn\w*|Function|subprocess|instance_eval|assert|shell_exec|passthru|do)\b/
const FETCHES =
  /urlopen|urlretrieve|requests\.get|http\.get|https\.get|fetch\s*\(|Net::HTTP|LWP|open-uri|file_get_contents\s*\(\s*['"]http|IO::Socket/
const FORKS =
  /while\s*\(?\s*(?:1|true|True)\b.*\bfork\b|\bfork\s*(?:\(\s*\))?\s*while\s*(?:\(?\s*(?:1|fork|true))|loop\s*\{\s*fork|\bfork\b[^\n]*\bfork\b|fork\s+while\s+fork/s
const REVERSE = /socket.*(?:dup2|\/bin\/(?:ba)?sh|pty\.spawn|subprocess)|TCPSocket.*(?:sh|exec)|fsockopen.*(?:exec|sh)/s

/** The code that an interpreter is given. */
export const codeOf = (name: string, args: readonly Arg[]): readonly string[] => {
  if (!INTERPRETERS.test(name)) return []
  const found = args.flatMap(({ text }, at) =>
    CODE.test(text) && args[at + 1]
      ? [(args[at + 1] as Arg).text]
      : /^--(?:eval|print)=/.test(text)
        ? [text.replace(/^--\w+=/, '')]
        : /^-[eEcr]./.test(text) && !CODE.test(text)
          ? [text.slice(2)]
          : [],
  )
  return found
}

const MOST = 50_000

/**
 * @param judge of a string in the code that may be a command
 */
export function inCode(code: string, place: Place, judge: (script: string) => Finding): Finding | undefined {
  if (code.length > MOST) return undefined
  if (RUNS.test(code) && DECODES.test(code)) return deny('it runs what it decodes')
  if (RUNS.test(code) && FETCHES.test(code)) return deny('it runs what it fetches')
  if (FORKS.test(code)) return deny('it starts processes without end')
  if (REVERSE.test(code)) return deny('it gives others a shell')
  const strings = stringsOf(code)
  const removes = REMOVES.test(code)
  for (const text of strings) {
    const path = absolute(text.replace(/^~(?=\/|$)/, place.home), place)
    if (path !== undefined && isPathLike(text) && isSecret(path, place)) return deny(`it reads keys (${text})`)
    if (!removes) continue
    if (
      path !== undefined &&
      /^(?:[~/.]|$)/.test(text) &&
      vital(path, place) !== undefined &&
      (!isShallow(text) || /rmtree|rmSync|rm_rf|rm_r|remove_tree|RemoveAll|remove_dir_all|rimraf/.test(code))
    )
      return deny(`it deletes ${vital(path, place)} (${text})`)
    const found = judge(text)
    if (found.verdict === 'deny') return found
  }
  if (
    removes &&
    /(?:rmtree|rmSync|rm_rf|remove_tree|rimraf|RemoveAll)\s*\(?\s*(?:Path\.home|os\.path\.expanduser\(\s*['"]~|Dir\.home|os\.homedir|process\.env\.HOME|os\.environ\[\s*['"]HOME|ENV\[['"]HOME)/.test(
      code,
    )
  )
    return deny('it deletes a home folder')
  if (removes && /\[\s*(?:['"][^'"]*['"]\s*,?\s*)+\]/.test(code)) {
    const found = judge(
      [...code.matchAll(/\[\s*((?:['"][^'"]*['"]\s*,?\s*)+)\]/g)].map(([, list]) => stringsOf(list as string).join(' ')).join('; '),
    )
    if (found.verdict === 'deny') return found
  }
  return undefined
}

const isShallow = (text: string): boolean => text === '' || text === '.'
const isPathLike = (text: string): boolean =>
  text !== '' && !/\s/.test(text) && (/[/~]/.test(text) || text.startsWith('.') || text.startsWith('id_'))

/** Without one of these no text is a command worth a look. */
const TELLING =
  /\b(?:rm|dd|mkfs|shred|wipefs|chmod|chown|find|mv|curl|wget|base64|kill|pkill|shutdown|reboot|poweroff|halt|cat|tee|crontab|xargs)\b|[>/~]|\.env/

const LITERALS: Readonly<Record<string, RegExp>> = {
  "'": /'((?:\\.|[^'\\])*)'/sy,
  '"': /"((?:\\.|[^"\\])*)"/sy,
  '`': /`((?:\\.|[^`\\])*)`/sy,
  '%': /%[xqQ]?[({[](.*?)[)}\]]/sy,
}
/** Quotes that nothing closes: each is looked after to the end. */
const MOST_OPEN = 200

/** What stands in quotes; and because a quote may stand in a pattern or comment, also what stands between any two. */
const stringsOf = (code: string): string[] => {
  const strings: string[] = []
  let open = 0
  for (let at = 0; at < code.length && open < MOST_OPEN; at++) {
    const literal = LITERALS[code[at] as string]
    if (literal === undefined) continue
    literal.lastIndex = at
    const found = literal.exec(code)
    if (found) {
      strings.push(found[1] ?? '')
      at = literal.lastIndex - 1
    } else open++
  }
  return [...new Set([...strings, ...code.split(/["'`]/)])].filter((text) => TELLING.test(text)).slice(0, MOST_STRINGS)
}
const MOST_STRINGS = 500

/** Programs that hand some of their arguments to a shell. */
const HANDERS =
  /^(?:tmux|screen|script|vim?|nvim|ex|ed|emacs|tar|rsync|scp|sftp|git|make|gmake|at|batch|expect|awk|gawk|mawk|nawk|sed|zip|find|less|man|gdb|pm2|forever|nodemon|concurrently|npx|cron|supervisorctl|wall|xterm|gnome-terminal|konsole|dialog|ffmpeg|mysql|psql|sqlite3|ansible|salt|aws|gcloud|vagrant|lxc|incus|kubectl|oc|docker|podman|nix-shell|nix|guix|conda|micromamba|poetry|pipenv|uv|hatch|tox|just|task|rake|gradle|mvn|sbt|dotnet|adb|osascript|start|cmd|powershell|pwsh)$/
/** `git commit -m '…'` says something, and does nothing. */
const MESSAGES = /^(?:-[a-zA-Z]*m|--message|--subject|--body|--title|-F|--format|--pretty|--grep|-S|-G)$/

/** What of the arguments may be a command for a shell. */
export function handedOn(name: string, args: readonly Arg[]): readonly string[] {
  if (!HANDERS.test(name)) return []
  return args.flatMap(({ text }, at) => {
    if (text.length > MOST || MESSAGES.test(args[at - 1]?.text ?? '') || /^--(?:message|grep|format|pretty)=/.test(text)) return []
    const quoted = /^[mng]?awk$/.test(name) || name === 'expect' || name === 'psql' ? stringsOf(text) : []
    const after = [
      /^(?:[-\w.]+=)+!?(.*)$/s,
      /^[^!]*!(.*)$/s,
      /^(?:\+|:)*(?:\d*,?\$?)?(?:e|r|!|exec|system|call system\()\s+(.*)$/s,
    ].flatMap((one) => one.exec(text)?.[1] ?? [])
    return /\s/.test(text) ? [text, ...quoted, ...after] : []
  })
}
