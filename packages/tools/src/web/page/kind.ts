/** Determines the type of a response from its content, or from its declared type where the content is ambiguous. */
import { HEAD_BYTES, magic } from '../../files/common/magic.ts'

type Kind = 'html' | 'json' | 'text'

/** Returns a description such as "a PNG image" if the response is not text. */
export function binary(bytes: Uint8Array, mediaType: string): string | undefined {
  const head = bytes.subarray(0, HEAD_BYTES)
  const [a, b] = head
  const isUtf16 = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)
  const known = isUtf16 ? undefined : magic(head)
  // The signatures of some formats are letters that a text may also begin with.
  if (known && (known.mediaType === 'application/pdf' || head.includes(0) || head.some((byte) => byte > 0x7f))) return known.what
  if (!isUtf16 && head.includes(0) && !/charset=["']?utf-?(?:16|32)/i.test(mediaType)) return 'binary data'
  return /^(?:image(?!\/svg)|audio|video|font)\//.test(mediaType) ? `no text, but ${mediaType.split(';')[0]}` : undefined
}

const HTML_START = /^<(?:!doctype\s+html|html|head|body|title|meta|script|style)\b/i

/** True for HTML, ignoring leading white space, comments and an XML declaration. */
function beginsAsHtml(head: string): boolean {
  let rest = head.trimStart()
  for (;;) {
    if (HTML_START.test(rest)) return true
    const mark = rest.startsWith('<!--') ? '-->' : rest.startsWith('<?xml') ? '?>' : undefined
    if (mark === undefined || !rest.includes(mark)) return false
    rest = rest.slice(rest.indexOf(mark) + mark.length).trimStart()
  }
}

const ANY_TAG = /<(?:\/?[a-z][a-z0-9-]*[\s/>]|!doctype)/i

/** Determines the kind. `text` may be just the beginning. */
export function kindOf(text: string, mediaType: string): { readonly kind: Kind; readonly notes: readonly string[] } {
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? ''
  const head = text.slice(0, HEAD_BYTES)
  const told: Kind | undefined = /^(?:text\/html|application\/xhtml\+xml)$/.test(type)
    ? 'html'
    : /[/+]json$/.test(type)
      ? 'json'
      : /^text\/|[/+]xml$|javascript/.test(type) && type !== 'text/plain'
        ? 'text'
        : undefined
  const note = (what: string) => [`The server declared ${JSON.stringify(type)}, but the content is ${what}.`]
  const isJson = /^\s*[[{]/.test(head) && parses(text)
  if (told !== 'text' && told !== 'html' && beginsAsHtml(head)) return { kind: 'html', notes: type === '' ? [] : note('HTML') }
  if (told === 'html' && !ANY_TAG.test(head)) return { kind: isJson ? 'json' : 'text', notes: note(isJson ? 'JSON' : 'plain text') }
  if (told === 'json' && !isJson && !parses(text)) return { kind: 'text', notes: note('not valid JSON') }
  return { kind: told ?? (isJson ? 'json' : 'text'), notes: [] }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
