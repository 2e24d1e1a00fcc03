/** Which addresses a text gives, exactly: what the model composed may have been read from a file, what it copied says nothing. Pure. */

/** Longer is nothing that is fetched. */
const MAX_ADDRESS = 8000

/** `https://…`, and `docs.example/page` where nobody wrote the scheme. Ends where prose and markup end one. */
const CANDIDATE =
  /(?:https?:\/\/|(?<![\p{L}\p{N}@:/._%+-])(?=[\p{L}\p{N}-]+\.[\p{L}\p{N}]))(?:(?!\]\()[^\s<>"`|\\^{}«»“”„‘’，。、；：！？（）「」『』【】《》…])+/giu
/** Markdown writes `\\(` for a bracket in an address. */
const ESCAPED = /\\([!-/:-@[-`{-~])/g
const TRAILING = /[.,;:!?'")\]*_~>]$/u
/** Signs at its end that may belong to it, or to the sentence around it. */
const MAX_TRAILING = 4

/**
 * Whether the text gives the address as it stands: what would be sent is the same byte for byte. A part of a longer address is not
 * given, nor one with more or less behind it, nor another spelling of the same: each such choice could carry a bit.
 * What is never sent does not count (the fragment), nor what a URL parser makes equal (the host's case, the default port, `ß` for `%C3%9F`).
 */
export function givesAddress(text: string, address: URL): boolean {
  const wanted = sent(address)
  const host = address.hostname.toLowerCase()
  for (const [candidate] of text.replace(ESCAPED, '$1').matchAll(CANDIDATE)) {
    if (candidate.length > MAX_ADDRESS || !mayName(candidate, host)) continue
    for (const reading of readingsOf(candidate)) for (const url of urlsOf(reading)) if (sent(url) === wanted) return true
  }
  return false
}

/** Whether a text holds these words in one piece, between ends of words. White space counts as one blank. */
export function givesWords(text: string, words: string): boolean {
  const [within, wanted] = [oneLine(text), oneLine(words)]
  if (wanted === '') return false
  for (let at = within.indexOf(wanted); at !== -1; at = within.indexOf(wanted, at + 1))
    if (!(isWord(within, at - 1) && isWord(within, at)) && !(isWord(within, at + wanted.length - 1) && isWord(within, at + wanted.length)))
      return true
  return false
}

const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()
const isWord = (text: string, at: number): boolean => /[\p{L}\p{N}_]/u.test(text[at] ?? '')

/** What goes over the wire. */
function sent(url: URL): string {
  const { href, hash } = url
  const bare = href.slice(0, href.length - hash.length)
  return hash === '' && bare.endsWith('#') ? bare.slice(0, -1) : bare
}

/** Parsing costs, and pages are full of other addresses. A name in another script is parsed to be compared. */
const mayName = (candidate: string, host: string): boolean =>
  candidate.toLowerCase().includes(host) || /[^\x00-\x7f]/.test(candidate.split('/', 3).join('/'))

function* readingsOf(candidate: string): Generator<string> {
  let text = balanced(candidate)
  yield text
  if (text.includes('&amp;')) yield text.replaceAll('&amp;', '&')
  for (let cut = 0; cut < MAX_TRAILING && TRAILING.test(text); cut++) {
    text = text.slice(0, -1)
    yield text
    if (text.includes('&amp;')) yield text.replaceAll('&amp;', '&')
  }
}

/** Up to the bracket that was opened before it. */
function balanced(text: string): string {
  let [round, square] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]
    if (unit === '(') round++
    else if (unit === '[') square++
    else if ((unit === ')' && --round < 0) || (unit === ']' && --square < 0)) return text.slice(0, at)
  }
  return text
}

function urlsOf(text: string): URL[] {
  const spellings = /^https?:\/\//i.test(text) ? [text] : [`https://${text}`, `http://${text}`]
  return spellings.flatMap((one) => URL.parse(one) ?? [])
}
