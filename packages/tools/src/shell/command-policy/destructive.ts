/**
 * Labels commands that cause irreversible harm, for the approval prompt. It works on the text and can miss cases; the actual protection is
 * the sandbox and the prompt itself. Pure.
 */
import { absolute, guarded, isBelow, isSecretPath, vitalWord, type WorkingFolder } from './paths.ts'
import { type ScriptCommand, scriptParts, type Variables } from './script.ts'
import { baseName, INTERPRETER, SHELL } from './wrappers.ts'

const GIVES_SHELL = 'it gives others a shell'
const NO_END = 'it keeps starting processes'

/** Patterns for a command as one line of plain words, keyed by the reason it is dangerous. */
const LINES: Readonly<Record<string, RegExp>> = {
  'it overwrites or repartitions a disk':
    /^(?:mkfs(?:\.\S+)?|mke2fs|newfs\S*|mkntfs|mkdosfs|wipefs|blkdiscard|mkswap|pvremove|vgremove|lvremove|sgdisk|cfdisk|tune2fs)(?: |$)|^(?:fdisk|sfdisk|parted|gdisk)(?= )(?!.* (?:-l|--list|-v|-V|--version|-h|--help)\b)|^(?:cryptsetup (?:.* )?(?:luksFormat|erase|luksErase|reencrypt)|nvme (?:format|sanitize|write)|zpool (?:destroy|labelclear|create)|zfs destroy|badblocks .*-\w*w|diskutil (?:erase|partition|zero|secureErase|apfs delete)|btrfs (?:subvolume|device) delete)|^(?:hdparm .*--(?:security|yes-i-know|trim|write|make-bad)|mdadm .*--(?:zero-superblock|stop|create)\b)/i,
  'it shuts the machine down':
    /^(?:shutdown|reboot|halt|poweroff|telinit|init [06]|(?:systemctl|loginctl) (?:.* )?(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|soft-reboot))(?: |$)/,
  'it ends every process':
    /^killall5|^kill (?!-[lL])(?:-\S+ |-s \S+ )+(?:.* )?-?[01](?: |$)|^kill -?1$|^(?:pkill|killall|skill) (?:-\S+ )*(?:-[uU] \S+|-\d+ -u \S+|\.|\.\*|\.\+|\^)?$/,
  'it changes logs': /^journalctl .*--(?:vacuum|rotate|flush)|^dmesg .*(?:-\w*[cC]|--clear)|^logrotate .*-(?:f|-force)|^wevtutil cl/,
  'it changes what runs automatically': /^crontab (?!-l$|-u \S+ -l$)|^crontab$/,
  [GIVES_SHELL]: /^(?:nc|ncat|netcat) .*(?:-[a-zA-Z]*[ec](?: |$)|--(?:exec|sh-exec|lua-exec))|^socat .*(?:EXEC|SYSTEM|SHELL):/i,
  'it changes who may log in': /^(?:visudo|passwd|chpasswd|useradd|userdel|usermod|adduser|deluser)(?: |$)/,
  'it changes the history of the shell':
    /^history .*-\w*[cdwra]|^(?:set \+o history)|^(?:(?:export|unset|declare|readonly) )?(?:HISTFILE|HISTSIZE|HISTFILESIZE|SAVEHIST|HISTCONTROL|HISTIGNORE)(?:=|$)/,
  'it turns off swap': /^swapoff .*(?:-a|--all)/,
  'it sets what git runs automatically':
    /^git (?!.*(?:--get|--unset|--list|config get|config unset)).*\bconfig\b.* (?:core\.hooksPath|core\.fsmonitor|core\.sshCommand|credential\.helper) ./i,
  'it deletes even the root': /^(?:rm|srm) .*--no-preserve/,
  'it gives a container the whole file system':
    /^(?:docker|podman|nerdctl) .*(?:-v|--volume)[ =]?\/:|^(?:docker|podman) .*--mount[ =]\S*(?:source|src)=\/(?:,| |$)/,
  'it prints keys or passwords':
    /^(?:gh auth (?:token|status\b.*(?: -t\b| --show-token))|git credential(?:-\S+)?(?: fill| get|$)|git-credential-\S+ get|gpg2?\b.* --export-secret|security (?:find-(?:generic|internet)-password|dump-keychain|export)|secret-tool (?:lookup|search)|(?:pass|gopass|passage) (?:show |ls .*\.|-c |otp )|op (?:read|item get|document get)|(?:bw|bws|rbw) (?:get|list|export|secret)|lpass (?:show|export)|vault (?:read|kv get|token (?:create|lookup)|print token)|doppler secrets(?: |$)|infisical (?:secrets|export)|sops (?:-d|--decrypt|decrypt|exec-)|age (?:-d|--decrypt)|ansible-vault (?:view|decrypt)|keyring get|kwallet-query|aws (?:configure (?:get|export-credentials)|sts get-session-token|ecr get-login-password|secretsmanager get-secret-value|ssm get-parameters?\b.*--with-decryption)|gcloud (?:auth (?:application-default )?print-\S+-token|secrets versions access|config config-helper)|az (?:account get-access-token|keyvault secret show|acr credential show)|kubectl (?:config view\b.*--raw|get secrets?\b.* (?:-o|--output)|create token)|docker-credential-\S+ get|heroku (?:auth:token|config(?::get)?\b)|(?:fly|flyctl) (?:auth token|tokens)|npm (?:token|config get .*(?:auth|password|token))|printenv .*(?:TOKEN|SECRET|PASSWORD|API_?KEY|CREDENTIAL))/i,
}
const lineReason = (line: string): string | undefined => Object.entries(LINES).find(([, pattern]) => pattern.test(line))?.[0]

/** Commands whose operands are lost as a whole, with the options that cause it. */
const LOSES: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries('rm srm unlink rmdir rimraf trash del wipe shred rimraf.js'.split(' ').map((name) => [name, /^/])),
  ...Object.fromEntries('chmod chown chgrp chattr setfacl chcon chflags'.split(' ').map((name) => [name, / (?:-\w*R|--recursive)/])),
  mv: /^/,
  find: / -delete\b| -exec(?:dir)? \S*(?:rm|shred|unlink)\b/,
  rsync: / (?:--del|--remove-source-files)/,
  rclone: / (?:purge|delete|sync) /,
  '': / -\w*r\w*f| -\w*f\w*r/,
}
/**
 * Commands that write to all their operands or edit them in place (all), to the last operand (last), or to the file given by an option
 * (named).
 */
const WRITES_ALL = /^(?:tee|truncate|touch|sponge|patch|ed|ex|vim?|nano|emacs|s?rm|unlink|shred|chown) |^(?:sed|perl) .*-\w*i/
const WRITES_LAST = /^(?:cp|mv|install|ln|scp|rsync|uniq|xxd) /
const WRITES_NAMED = /^(?:dd|curl|wget|tar|sort|cp|mv|install|unzip|openssl|gpg|ssh-keygen|find) /
const NAMES_NEXT =
  /^(?:-o|--output|-O|--output-document|-P|--directory-prefix|-D|-C|-d|-t|--target-directory|-f|-out|-fprint|-fprintf|-fls)$/
/** Commands that name files or print text without reading file contents. */
const NAMERS = new Set(
  `ls stat test [ [[ echo printf rm unlink rmdir touch chmod chown chgrp mkdir find fd which basename dirname realpath readlink ssh-keygen
  ssh-add ssh cd pushd type exa eza alias export declare local readonly typeset set unset true false : shred truncate exit return read`.split(
    /\s+/,
  ),
)
const PATTERN_FIRST = /^(?:[efz]?grep|rg|ag|ack|sed|[gmn]?awk|jq|yq)$/
/** Commands whose arguments are text rather than a script. */
const PRINTERS =
  /^(?:echo|printf|[efz]?grep|rg|ag|ack|sed|jq|cat|ls|mkdir|touch|cp|npm|yarn|pnpm|man|apt|apt-get|brew|pip|which|type|commit|log)$/
const FETCHES = /(?:^|[\s`("'|;&])(?:curl|wget|fetch)\s/
const DECODES =
  /\b(?:base64 (?:-d|-D|--decode)|base32 -d|xxd -\w*r|openssl (?:enc|base64|aes)\S* .*-d|uudecode|gunzip|zcat|bunzip2|unxz|rev\b|tr '?[\w-]+'? '?[\w-]+)/
const RUN_BY_OTHERS =
  /^(?:rm|dd|mkfs.*|shred|chmod|chown|find|wipefs|mv|tee|bash|sh|zsh|cat|shutdown|reboot|poweroff|halt|systemctl|kill|pkill|killall)$/
const DELETES_IN_CODE =
  /\b(?:rmtree|rmSync|rmdirSync|rmdir|rm_rf|rm_r|remove_entry|removedirs|remove_tree|unlinkSync|rimraf)\b[^;\n]{0,80}?(?:['"`](\/[^'"`]{0,80}|~[^'"`]{0,80}|\.{1,2})['"`]|(homedir|HOME|expanduser|\.home\b))/
const FORK_BOMB =
  /(?<![\w:.])([\w:.]{1,40}) ?\(\) {0,3}\{[^}]{0,100}[\s{;]\1 {0,3}\| {0,3}\1 {0,3}&|\bfork while (?:fork|1|true)|\bwhile(?: ?\( ?(?:1|true) ?\)| 1| True)[ :{]{0,4}(?:os\.)?fork/
const ENDLESS_LOOP =
  /(?:^|[;&|\s])(?:while (?::|true|\[ 1 \]|\(\( ?1 ?\)\))|until false|for \(\( ?; ?; ?\)\)) ?;? ?do\s([^\n]{1,200}?[^&>])& ?;? ?done/

/** Selects only some of the files. */
const FILTERED = / -(?:i?name|i?path|i?regex|newer\w*|[acm]time|[acm]min|size|empty|user)\b|grep/

const MAX_DEPTH = 5
/** Words of a command to check, and how many of them may start another command. */
const MAX_WORDS = 300
const MAX_STARTS = 30

/** Returns why a script deserves a second look, or undefined if nothing here applies. */
export const destructiveReason = (script: string, place: WorkingFolder): string | undefined =>
  ofScript(script, place, new Map(), MAX_DEPTH, { scripts: 200 }) ?? ofText(script, place)

const DELETES_IN_TEXT = /(?:^|[\n;&|({`]) {0,9}(?:sudo )?rm (?:-{1,2}[\w-]{1,40} ){1,9}([/~]\S{0,200})(?=[\s;&|)}]|$)/g

/** Checks the raw text, for scripts that are too long or too deeply nested to parse. */
function ofText(script: string, place: WorkingFolder): string | undefined {
  for (const [, target = ''] of script.replace(/["'\\]/g, '').matchAll(DELETES_IN_TEXT)) {
    const reason = vitalWord(target.replace(/^~/, place.home), place)
    if (reason) return `it deletes ${reason} (${target})`
  }
  return undefined
}

function ofScript(script: string, place: WorkingFolder, known: Variables, depth: number, budget: { scripts: number }): string | undefined {
  if (depth === 0 || budget.scripts-- <= 0) return undefined
  const { commands, functions, variables } = scriptParts(script, place, known)
  const endless = ENDLESS_LOOP.exec(script)
  if (FORK_BOMB.test(script) || (endless && !/\b(?:wait|sleep|break)\b[^&]*;/.test(endless[1] ?? ''))) return NO_END
  if (isFetchedAndRun(script, commands)) return 'it runs what it fetches or decodes'
  const runsText = commands.some(({ words }) => words.some(({ text }) => RUNS_GIVEN.test(text) || functions.includes(text)))
  for (const command of commands) {
    const at = { ...place, cwd: command.cwd ?? place.cwd }
    const reason = ofCommand(command, at, variables)
    if (reason) return reason
    const given = new Map(variables).set('@', command.words.map(({ text }) => text).slice(1))
    for (const text of textsIn(command, runsText)) {
      const found = ofScript(text, at, given, depth - 1, budget) ?? inCode(text, at) ?? ofText(text, at)
      if (found) return found
    }
  }
  return functions.some((name) => isBomb(name, script)) ? NO_END : undefined
}

const RUNS_GIVEN = /^(?:.*\/)?(?:\w*sh|eval|source|\.|xargs|parallel|at|\$SHELL)$|^\.{0,2}\/[\w.]/

/** True for a function that starts itself in a pipe or in the background. */
function isBomb(name: string, script: string): boolean {
  if (name.length > 50 || script.length > 5000 || !/[^&]&\s*[;}\n\w]/.test(script)) return false
  const own = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w-])${own}\\s*[|&](?![|&])\\s*${own}(?![\\w-])`).test(script)
}

function isFetchedAndRun(script: string, commands: readonly ScriptCommand[]): boolean {
  const gets = (text: string): boolean => FETCHES.test(` ${text}`) || DECODES.test(text)
  const saved = [...script.matchAll(/(?:-[oO]|--output|>)\s*([\w./~-]{1,100})/g)].map(([, file = '']) => file)
  return commands.some(({ words, fedBy, texts }) => {
    const names = words.map(({ text }) => baseName(text))
    const runs = names.some((name) => SHELL.test(name) || INTERPRETER.test(name) || /^(?:eval|source|\.)$/.test(name))
    const inner = words.map((word) => word.inner).join(' ')
    if (words[0]?.inner && gets(words[0].inner)) return true
    if (runs && words.some(({ text }) => /b64decode|fromhex|atob\(/.test(text) && /system|exec|eval|spawn/.test(text))) return true
    if (runs && (gets(inner) || gets(fedBy) || texts.some(gets))) return true
    const [, ...args] = words
    return FETCHES.test(script) && saved.some((file) => words[0]?.text === file || (runs && args.some(({ text }) => text === file)))
  })
}

/** Returns texts in a command that may be scripts. */
function textsIn({ words, texts, fedBy }: ScriptCommand, runsText: boolean): string[] {
  const [first, ...args] = words
  const name = baseName(first?.text ?? '')
  const isPrinter = PRINTERS.test(name === 'git' ? (args[0]?.text ?? '') : name)
  if (isPrinter && !runsText) return []
  const given = args.map(({ text }) => text).filter((text) => /\s/.test(text.trim()) || INTERPRETER.test(name))
  const whole = args.map(({ text }) => text).join(' ')
  const joined = /^(?:eval|ssh|watch|parallel|env|trap|alias|echo|printf)$/.test(name) ? [whole.replace(/\\n/g, '\n')] : []
  const last = given.map((text) => text.replace(/^(?:[\w.-]+=)+!?|^!/, ''))
  const quoted = given.flatMap((text) => [...text.matchAll(/(["'`])((?:(?!\1).){2,500})\1/g)].map(([, , inside = '']) => inside))
  return [...new Set([...joined, ...given, ...last, ...quoted, ...texts, ...(SHELL.test(name) ? [fedBy] : [])])].slice(0, 20)
}

function inCode(code: string, place: WorkingFolder): string | undefined {
  const found = DELETES_IN_CODE.exec(code.slice(0, 20_000))
  const reason = found && vitalWord(found[1]?.replace(/^~/, place.home) ?? place.home, place)
  if (reason) return `it deletes ${reason}`
  const file = /\bopen(?:Sync)?\(\s*['"]([^'"]{1,200})|read\w*\(\s*['"]([^'"]{1,200})/.exec(code.slice(0, 20_000))
  const path = file && absolute((file[1] ?? file[2] ?? '').replace(/^~/, place.home), place)
  return path && isSecretPath(path, place.home) ? `it reads keys (${path})` : undefined
}

function ofCommand(command: ScriptCommand, place: WorkingFolder, variables: Variables): string | undefined {
  const { words, redirects, environment, fedBy, texts } = command
  for (const { operator, target } of redirects) {
    const path = absolute(target.text, place)
    const reason = path && (operator.includes('>') ? guarded(path, place) : isSecretPath(path, place.home) ? 'it reads keys' : undefined)
    if (reason) return `${reason} (${target.text})`
    if (operator.includes('>') && /^\/dev\/(?:tcp|udp)\//.test(target.text) && words.some(({ text }) => SHELL.test(baseName(text))))
      return GIVES_SHELL
  }
  const set = environment.map(lineReason).find((one) => one !== undefined)
  if (set) return set
  const argv = words.slice(0, MAX_WORDS).map(({ text }) => text)
  const name = baseName(argv[0] ?? '')
  const isPrinter = PRINTERS.test(name)
  for (let at = 0; at < Math.min(argv.length, MAX_STARTS); at++) {
    if (at > 0 && ((isPrinter && !words[at]?.dynamic) || !RUN_BY_OTHERS.test(baseName(argv[at] as string)))) continue
    const fed = argv.slice(0, at + 1).some((word) => /^(?:xargs|parallel)$/.test(baseName(word))) || (at > 0 && name === 'find')
    const more =
      fed && !FILTERED.test(` ${fedBy}${argv.join(' ')}`)
        ? fedWords(`${fedBy} ${texts.join(' ')} ${name === 'find' ? argv[1] : ''}`, place)
        : []
    const reason =
      ofArgv([...argv.slice(at), ...more], place) ??
      (fed ? secretIn('cat', [...fedWords(`${fedBy} ${texts.join(' ')}`, place), ...argv], place) : undefined)
    if (reason) return reason
  }
  // A variable may have any of the values that the script assigns to it.
  const isOpen = words.some(({ text, dynamic }) => dynamic && /[…\s]/.test(text))
  return isOpen && name === 'rm' ? ofArgv([...argv, ...[...variables.values()].flat()], place) : undefined
}

const fedWords = (text: string, { home }: WorkingFolder): string[] =>
  text
    .split(/[\s|]+/)
    .slice(0, 200)
    .map((word) => word.replace(/["']|\\0/g, '').replace(/^~(?=\/|$)|\$HOME/, home))
    .filter((word) => word !== '' && !word.startsWith('-'))

function ofArgv(argv: readonly string[], place: WorkingFolder): string | undefined {
  const [program = '', ...args] = argv
  const name = /^[….*?[]|^$/.test(baseName(program)) || program.includes('…') || /[*?[]/.test(program) ? '' : baseName(program)
  const line = [name, ...args].join(' ').slice(0, 2000)
  const found = lineReason(line)
  if (found) return found
  const end = args.indexOf('--')
  const operands = args.filter((word, at) => !word.startsWith('-') || (end !== -1 && at > end))
  const loses = Object.hasOwn(LOSES, name) && LOSES[name]?.test(line) ? operandsLost(name, operands, args) : []
  const isFiltered = name === 'find' && FILTERED.test(line)
  for (const one of name === '' && loses.length > 0 ? operands : loses) {
    const path = absolute(one, place)
    if (isFiltered && path !== undefined && isBelow(path, place.workspace)) continue
    if (name === 'rm' && /\*[^/]*$/.test(one) && !/ (?:-\w*[rR]|--rec)/.test(line)) continue
    const reason = vitalWord(one, place)
    if (reason) return `${name === 'mv' ? 'it moves' : /^ch/.test(name) ? 'it changes' : 'it deletes'} ${reason} (${one})`
  }
  return writesTo(operands, args, line, place) ?? secretIn(name, args, place)
}

function operandsLost(name: string, operands: readonly string[], args: readonly string[]): readonly string[] {
  if (name === 'mv') return args.includes('-t') ? operands : operands.slice(0, -1)
  if (name === 'rsync') return args.includes('--remove-source-files') ? operands : operands.slice(-1)
  if (name !== 'find') return operands
  const first = args.findIndex((word) => /^(?:-[a-zA-Z]{2,}|[(!])/.test(word))
  const starts = args.slice(0, first === -1 ? args.length : first).filter((word) => !word.startsWith('-'))
  return starts.length > 0 ? starts : ['.']
}

function writesTo(operands: readonly string[], args: readonly string[], line: string, place: WorkingFolder): string | undefined {
  const named = args.flatMap((word, at) =>
    NAMES_NEXT.test(args[at - 1] ?? '') ? word : (/^(?:of=|--output=|-[oOCDP](?=.))(.+)/.exec(word)?.[1] ?? []),
  )
  const own = WRITES_ALL.test(line) ? operands : WRITES_LAST.test(line) ? operands.slice(-1) : []
  for (const one of [...(WRITES_NAMED.test(line) ? named : []), ...own]) {
    const path = absolute(one.replace(/\/\*[^/]*$/, ''), place)
    const reason = path && guarded(path, place)
    if (reason) return `${reason} (${one})`
  }
  return undefined
}

/** Returns a reason if the command would read a key file. */
function secretIn(name: string, args: readonly string[], place: WorkingFolder): string | undefined {
  if (NAMERS.has(name) || (name === 'git' && !/^(?:show|diff|blame|cat-file|grep|archive|log|hash-object)$/.test(args[0] ?? '')))
    return undefined
  const pattern = PATTERN_FIRST.test(name) ? args.findIndex((word) => !word.startsWith('-')) : -1
  const last = /^(?:cp|mv|install|scp|rsync|ln)$/.test(name) ? args.length - 1 : args.length
  for (const [at, word] of args.slice(0, last).entries()) {
    if (at === pattern || NO_FILE.test(word) || NO_FILE.test(`${args[at - 1]}=`) || word.length > 500) continue
    for (const one of [word, ...word.split(/[=@,:<]/).slice(1)]) {
      const plain = one.replace(/^file:\/\//, '').replace(/^~(?=\/)/, place.home)
      const path = one === '' || /\s/.test(one) ? undefined : absolute(plain.replaceAll('…', 'x'), place)
      if (path && (isSecretPath(path, place.home) || SECRET_PATTERN.test(path.replace(place.home, '~')))) return `it reads keys (${one})`
    }
  }
  return undefined
}

/** URLs, and options whose value is a pattern or a file whose contents are not shown. */
const NO_FILE = /^(?!file:)[a-z][\w+.-]*:\/\/|^(?:-[ge]|--(?:env-file|i?glob|dotenv\w*|(?:in|ex)clude[\w-]*))=/i
/** Shell patterns that match key files, such as `~/.s*\/id_*`. */
const SECRET_PATTERN = /\/(?:id_\*|\*\.(?:pem|key)|\.e[nv*?]+|\.env[.*]+)$|^~\/\.[sagn][\w[\]/_]*[*?[]|^\/etc\/[gs?*[]+h?a?d\S*$/
