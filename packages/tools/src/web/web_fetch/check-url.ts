/** Converts text from the model to a URL that may be fetched, or to an error that says what to write instead. */
import { ModelRetry } from '@mulligan/core'
import { refusal } from '../net/connect.ts'
import type { Guard } from '../net/guard.ts'

/**
 * Checks a URL.
 * @throws ModelRetry with a corrected URL if the text is not a page's URL; ToolFailure if it may not be fetched
 */
export function checkUrl(text: string, guard: Guard): URL {
  const url = URL.parse(text.trim())
  const meant = url && isWeb(url) ? withoutLogin(url) : repaired(text.trim())
  const reason = meant && guard.url(meant)
  if (reason) throw refusal(reason)
  if (url && isWeb(url) && url.username === '' && url.password === '') return url
  const hasLogin = url !== null && isWeb(url)
  throw new ModelRetry(hasLogin ? 'A URL with a user name or password in it is not fetched.' : says(url), {
    parameter: 'url',
    // Otherwise a password would be repeated to the model and the log.
    value: hasLogin ? text.replace(/\/\/[^/?#]*@/, '//…@') : text.slice(0, 200),
    constraint: hasLogin ? 'a URL without a user name' : 'an http or https URL, such as https://example.com/page',
    ...(meant && { suggestion: meant.href }),
  })
}

const isWeb = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

function withoutLogin(url: URL): URL {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  return bare
}

const says = (url: URL | null): string => {
  if (url?.protocol === 'file:') return 'Only web pages are fetched; files are read with read_file.'
  return url && /^(?:ftp|data|javascript|ws|wss|mailto|blob|about|chrome|gopher|ssh|git|view-source):$/.test(url.protocol)
    ? `Only http and https are fetched, not ${url.protocol}`
    : 'This is not the URL of a web page.'
}

/** Misspelt schemes, and `https//` or `http:/`. */
const MISSPELT = /^(?:h[tp]{0,4}(s?)|t?tps?)(?::\s*\/{0,3}|\/\/)(?=[^/:])/i
const HOST =
  /^(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]{2,}\.?(?::\d{1,5})?(?:[/?#]|$)|^(?:localhost|\[[\da-f:.]+\]|[\d.]+)(?::\d{1,5})?(?:[/?#]|$)/iu

/** Returns the URL that was probably intended. */
function repaired(text: string): URL | undefined {
  const inner = /\]\((\S+?)\)/.exec(text)?.[1] ?? text.replace(/^[<"'`(]+|[>"'`)]+$/g, '')
  const scheme = MISSPELT.exec(inner)
  const [, host = '', path = ''] = /^([^/]*)(.*)$/s.exec(scheme ? inner.slice(scheme[0].length) : inner.replace(/^\/\//, '')) ?? []
  // White space before the path is a typo; inside the path it is part of a name.
  const rest = host.replace(/\s+/g, '') + path
  if (!HOST.test(rest)) return undefined
  const url = URL.parse(`${scheme && !/^[a-z]*s/i.test(scheme[0]) ? 'http' : 'https'}://${rest}`)
  return url ? withoutLogin(url) : undefined
}
