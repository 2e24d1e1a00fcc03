/** Removes from the message of an exception what a model or a client must not see. It errs on the side of removing too much. */

const SECRET = '[secret]'
/** Characters that are searched. What follows is dropped. */
const MAX_SEARCHED = 20_000
/** Maximum characters of a message. */
const MAX_MESSAGE = 1000
/** Shorter values of variables are ordinary words. */
const MIN_SECRET = 6

/** A stack frame of JavaScript or Python: the rest of the text is the stack. */
const STACK =
  /(?:\bat (?:[^\n()]{0,200} )?\(?(?:file:\/\/|node[:]|\/|[A-Za-z]:[\\/])\S{0,500}:\d+:\d+|\n[^\S\n]{0,100}at (?:[^\n()]{0,200} )?\(?[a-z-]{2,20}:\/\/[^\s]{0,500}:\d+:\d+|\bTraceback \(most recent|\bFile "[^"\n]{1,500}", line \d)/

const NAMES =
  'pass(?:word|wd|phrase)?|pwd|secret|token|(?:api|access|account)[-_ ]?key|private[-_]?key|credentials?|authorization|sig(?:nature)?'
const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]{1,40}-----[\s\S]*?(?:-----END [A-Z ]{1,40}-----|$)/g, SECRET],
  // A password or a token in a URL.
  [/\b([a-z][a-z\d+.-]{0,30}:\/\/)[^\s/?#'"]{1,300}@/gi, `$1${SECRET}@`],
  // With characters in the password that should be escaped. The user of a web page has no dot, so that it is told from a host.
  [
    /\b((?!https?:)[a-z][a-z\d+.-]{0,30}:\/\/|https?:\/\/(?![^:]{0,100}\.))[^\s/?#@'":[\]]{0,100}:(?!\d+[/?#])[^\s'"]{1,300}?@/gi,
    `$1${SECRET}@`,
  ],
  [/([?&](?:key|appid|auth|code|sig)=)(?=[^&\s"'#]{0,200}\d)[^&\s"'#]{8,}/gi, `$1${SECRET}`],
  [/(\/bot\d{6,}:|hooks\.slack\.com\/services\/(?:\w+\/)*)[\w-]+/g, `$1${SECRET}`],
  [
    /(authorization["']?\s*(?:[:=,]|,\s*["']?value["']?\s*:)\s*["']?(?:(?:bearer|basic|digest|token|api-?key)\s+|[\w-]{1,30}\s+(?=[^\s"']{14}))?)(?=[a-z+/.=~_-]*\d)[\w+/.=~-]{8,}/gi,
    `$1${SECRET}`,
  ],
  [/(\bcookie["']?\s*[:=]\s*["']?)(?!(?:samesite|path|domain|expires|max-age)=)[^\s"';=]{1,200}=[^"'\n]+/gi, `$1${SECRET}`],
  [/\b(bearer|basic)\s+[\w+/.=~-]{8,}/gi, `$1 ${SECRET}`],
  [
    new RegExp(
      `((?:${NAMES})["']?\\s*=\\s*|(?:${NAMES})["']\\s*:\\s*|(?:${NAMES})\\s*:\\s*(?=["'](?=[^"'\\s]{6})[^"'\\s]*\\d)|\\bpass\\s*:\\s*(?=["'])|(?:pass(?:word|wd|phrase)|pwd|secret|key)\\s*:\\s*)("[^"\\n]*"?|'[^'\\n]*'?|(?:(?![&,]\\w+[=:])[^\\s;])*[^\\s;,&)}])`,
      'gi',
    ),
    `$1${SECRET}`,
  ],
  [
    /\b(?:sk|pk|rk)[-_][\w-]{12,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w{20,}|\bxox[abeprs]-[\w-]{10,}|\bA[KS]IA[A-Z\d]{12,}|\b(?:gsk_|xai-|hf_|r8_|npm_|pplx-)[A-Za-z\d]{20,}|\b(?:glpat-|SG\.|ya29\.|xapp-|whsec_)[\w.-]{16,}|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
    SECRET,
  ],
]

const ROOTS =
  'home|Users|root|var|etc|tmp|opt|usr|srv|mnt|media|proc|sys|run|private|Volumes|app|apps|code|data|build|builds|work|workspaces?|github|nix|lib|bin|Library|Applications'
/** An absolute path of a machine. Only one in quotes may contain blanks. */
const PATH = `(?:file:\\/\\/)?(?:\\/(?:${ROOTS})(?=[\\/\\s'"\`]|$)|~(?=\\/)|[A-Za-z]:[\\\\/]|\\\\\\\\)`
const PATHS = [
  new RegExp(`(?<=(['"\`]))${PATH}[^'"\`\\n]*(?=\\1)`, 'g'),
  new RegExp(`(?<![\\w.:/~-])${PATH}[^\\s'"\`,;:()<>]*`, 'g'),
  // Behind a colon, as in a list of paths, only those that are surely no route of a service.
  /(?:(?<=\w{2}:)|(?<![\w.:/~-])\/export(?=\/home\/))(?:(?:file:\/\/)?\/(?:home|Users|root|usr|var|etc|tmp)\/|~\/|[A-Za-z]:[\\/])[^\s'"`,;:()<>]*/g,
]

interface Environment {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: () => string
}

/** What the runtime tells about its environment; nothing in a browser. */
const environment = (): Environment => (globalThis as { readonly process?: Environment }).process ?? {}

const SECRET_NAME = /key|token|secret|pass|_pwd|credential|auth|cookie|dsn|_ur[il]$/i

/** Returns the message with secrets, stacks and paths outside the working folder removed, and shortened. */
export function redactMessage(message: string): string {
  const text = redacted(message.slice(0, MAX_SEARCHED)).trim()
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}

/** Characters that JSON escapes, behind which the patterns may not find a secret. */
const ESCAPED = /["\\\p{Cc}]/u
const MAX_DEPTH = 4

/**
 * Whether a text or a plain value contains nothing that {@link redactMessage} removes. False if that is uncertain, for example if the text
 * is too long to search.
 */
export function hasNothingToRedact(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length <= MAX_SEARCHED && redacted(value) === value
  if (value === null || ['undefined', 'number', 'boolean'].includes(typeof value)) return true
  if (typeof value !== 'object' || depth > MAX_DEPTH || !isPlain(value)) return false
  const isHarmless = Object.entries(Object.getOwnPropertyDescriptors(value)).every(
    ([key, { value: member, get }]) =>
      !get &&
      !SECRET_NAME.test(key) &&
      (typeof member !== 'string' || (!ESCAPED.test(member) && hasNothingToRedact(`${key}: ${member}`))) &&
      hasNothingToRedact(member, depth + 1),
  )
  // A secret may stand beside its name, as in a list of headers.
  return isHarmless && (depth > 0 || hasNothingToRedact(JSON.stringify(value)))
}

const isPlain = (value: object): boolean => Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value))

function redacted(message: string): string {
  const { env = {}, cwd } = environment()
  const stack = message.search(STACK)
  let text = stack === -1 ? message : message.slice(0, stack).trimEnd()
  for (const [name, value = ''] of Object.entries(env))
    if (value.length >= MIN_SECRET && SECRET_NAME.test(name))
      for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) text = text.replaceAll(form, SECRET)
  for (const [pattern, replacement] of PATTERNS) text = text.replace(pattern, replacement)
  text = withoutFolder(text, cwd?.() ?? '/')
  for (const pattern of PATHS) text = text.replace(pattern, lastName)
  return text
}

/** Makes the paths in a folder relative. */
function withoutFolder(text: string, folder: string): string {
  if (folder === '/') return text
  const escaped = folder.replace(/[^\w/]/g, '\\$&')
  return text.replace(new RegExp(`(?<![\\w.:/~-])(?:file://)?${escaped}(?:([\\\\/])|(?![\\w-]))`, 'g'), (_, inside) => (inside ? '' : '.'))
}

/** Of a path, only the last name is kept. */
const lastName = (path: string): string => `…/${path.split(/[\\/]/).findLast((name) => name !== '') ?? ''}`
