/**
 * Determines which addresses a text gives verbatim. An address composed by the model may contain data read from a file; a copied one
 * reveals nothing. Pure.
 */

/** Addresses longer than this are never fetched. */
const MAX_ADDRESS = 8000

/** Matches `https://…`, and `docs.example/page` without a scheme. Ends where prose or markup would end an address. */
const CANDIDATE =
  /(?:https?:\/\/|(?<![\p{L}\p{N}@:/._%+-])(?=[\p{L}\p{N}-]+\.[\p{L}\p{N}]))(?:(?!\]\()[^\s<>"`|\\^{}«»“”„‘’，。、；：！？（）「」『』【】《》…])+/giu
/** Markdown escapes brackets in addresses as `\\(`. */
const ESCAPED = /\\([!-/:-@[-`{-~])/g
const TRAILING = /[.,;:!?'")\]*_~>]$/u
/** Maximum number of trailing characters that may belong to the address or to the surrounding sentence. */
const MAX_TRAILING = 4

/**
 * Returns whether the text gives the address verbatim, so that what would be sent is identical byte for byte. A part of a longer
 * address does not count, nor does one with more or fewer characters at its end or another spelling: each such choice could carry a
 * bit.
 * Differences that are never sent (the fragment) or that a URL parser removes (the host's case, the default port, `ß` for `%C3%9F`) do
 * not matter.
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

/** Returns whether a text contains these words contiguously, at word boundaries. Any white space counts as one space. */
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

/** Returns the part of the URL that is sent over the wire. */
function sent(url: URL): string {
  const { href, hash } = url
  const bare = href.slice(0, href.length - hash.length)
  return hash === '' && bare.endsWith('#') ? bare.slice(0, -1) : bare
}

/**
 * Returns whether a candidate may name the host. Parsing is expensive, and pages are full of other addresses. A name in a non-Latin
 * script is parsed for comparison.
 */
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

/** Cuts the text at the first unmatched closing bracket. */
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
