/** Turns a query in Gmail's words into searches of IMAP. */
import { ModelRetry } from '@mulligan/core'
import type { SearchObject } from 'imapflow'
import { oneLine } from '../../common/text.ts'

const TERM = /(-)?(?:([a-z_]+):)?(?:"([^"]*)"|(\S+))/gi
const KNOWN =
  'from:, to:, cc:, subject:, after:, before:, is:unread, is:starred, has:attachment, words and "phrases", and - in front of any'

/** Returns searches whose results have to be intersected. @throws ModelRetry for an operator that IMAP does not have */
export function searchesOf(query: string): readonly SearchObject[] {
  const terms = [...query.matchAll(TERM)].map(([whole, minus, key = '', phrase, word = '']) => {
    const condition = conditionOf(key.toLowerCase(), phrase ?? word, whole, query)
    return minus === undefined ? condition : { not: condition }
  })
  const searches: SearchObject[] = []
  for (const term of terms) {
    const at = searches.findIndex((one) => Object.keys(term).every((key) => !(key in one)))
    if (at < 0) searches.push(term)
    else searches[at] = { ...searches[at], ...term }
  }
  return searches
}

function conditionOf(key: string, value: string, whole: string, query: string): SearchObject {
  const unknown = (): never => {
    throw new ModelRetry(`${JSON.stringify(oneLine(whole, 60))} can't be searched for in this mailbox.`, {
      parameter: 'query',
      value: query,
      constraint: KNOWN,
    })
  }
  switch (key) {
    case '':
      return value === 'OR' || value === '|' ? unknown() : { text: value }
    case 'from':
    case 'to':
    case 'cc':
    case 'bcc':
    case 'subject':
      return { [key]: value }
    case 'after':
    case 'since':
      return { since: dayIn(value) ?? unknown() }
    case 'before':
      return { before: dayIn(value) ?? unknown() }
    case 'is':
      return { unread: { seen: false }, read: { seen: true }, starred: { flagged: true } }[value] ?? unknown()
    case 'has':
      // IMAP has no search for attachments; messages with one are of this type.
      return value === 'attachment' ? { header: { 'content-type': 'multipart/mixed' } } : unknown()
    default:
      // As in a time or an address, such as 10:30.
      return /^[a-z_]+$/.test(key) &&
        /^(?:in|label|filename|larger|smaller|older|newer|older_than|newer_than|category|list|deliveredto)$/.test(key)
        ? unknown()
        : { text: whole.replace(/^-/, '').replaceAll('"', '') }
  }
}

/** A day as `2026/11/26` or `2026-11-26`. */
function dayIn(text: string): Date | undefined {
  const [, year, month, day] = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/.exec(text) ?? []
  if (year === undefined) return undefined
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 ? date : undefined
}
