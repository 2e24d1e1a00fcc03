/** What the scripted model says: a good plan, and on the way the classic mistakes. It reads the hints it gets, as a model does. */
import { call, lastToolResults, type ScriptedTurn, say, type TurnFunction } from '@mulligan/testing'

const WRONG_PATH = 'src/pirce.js'

/** The input of the call that the latest result suggests; `fallback` when it suggests none. */
const suggested = (request: Parameters<typeof lastToolResults>[0], fallback: Record<string, unknown>): Record<string, unknown> => {
  const text = lastToolResults(request).at(-1)?.text ?? ''
  const found = /Call instead: \w+\((.*)\)$/m.exec(text)?.[1]
  return found === undefined ? fallback : (JSON.parse(found) as Record<string, unknown>)
}

/** The same call four times: the last one is refused. */
const grep = call('grep', { pattern: 'discounted' })

export const SCRIPT: readonly (ScriptedTurn | TurnFunction)[] = [
  { ...call('read_file', { path: WRONG_PATH }), text: 'I look at the pricing code.' },
  (request) => call('read_file', { path: suggested(request, { path: WRONG_PATH })['path'], limit: '50' }),
  call('find_usages', { symbol: 'discounted' }),
  call('grep', { pattern: 'applyDiscount' }),
  call('edit_file', {
    path: 'src/price.js',
    edits: [{ old_text: '  return Math.round(cents + cents * rate)', new_text: '  return Math.round(cents - cents * rate)' }],
  }),
  (request) => {
    const edits = suggested(request, {})['edits'] as { old_text: string }[] | undefined
    return call('str_replace', {
      path: 'src/price.js',
      old_str: edits?.[0]?.old_text ?? 'cents + cents * rate',
      new_str: '  return Math.round(cents - cents * rate)',
    })
  },
  grep,
  grep,
  grep,
  grep,
  say('The discount was added instead of taken off. I changed the sign in src/price.js; the check should pass now.'),
]
