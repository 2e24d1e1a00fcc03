/** Pages of services that hand out a token for the next page. The tokens are kept in the session, so that page 2 works after a restart. */
import { ModelRetry } from '@mulligan/core'

/** Where a session keeps small values. */
export interface SessionValues {
  readonly get: (key: string) => unknown
  readonly set: (key: string, value: unknown) => Promise<void> | void
}

/** Values that are lost when the process ends. */
export function memoryValues(): SessionValues {
  const values = new Map<string, unknown>()
  return {
    get: (key) => values.get(key),
    set: async (key, value) => {
      values.set(key, value)
    },
  }
}

/** Lists kept in a session; the oldest is forgotten first. */
const MAX_LISTS = 50
const KEY = 'page tokens'

/** The tokens of a list by page; page 1 has none. */
type Tokens = Readonly<Record<string, string>>

/**
 * Returns the token of a page.
 *
 * @param list identifies the list: the tool with its other parameters
 * @throws ModelRetry if the page before it was not read
 */
export function tokenOf(values: SessionValues, list: string, page: number): string | undefined {
  if (page === 1) return undefined
  const token = listsIn(values)[list]?.[page]
  if (token !== undefined) return token
  const last = Math.max(1, ...Object.keys(listsIn(values)[list] ?? {}).map(Number))
  throw new ModelRetry(`Page ${page} can be read after page ${page - 1}, with the same parameters.`, {
    parameter: 'page',
    value: page,
    constraint: 'the next page of a list that was read',
    suggestion: Math.min(last, page - 1),
  })
}

/** Keeps the token of the next page, if there is one. */
export async function keepToken(values: SessionValues, list: string, page: number, token: string | undefined): Promise<void> {
  if (!token) return
  const { [list]: tokens = {}, ...others } = listsIn(values)
  const kept = Object.entries(others).slice(-(MAX_LISTS - 1))
  await values.set(KEY, { ...Object.fromEntries(kept), [list]: { ...tokens, [page + 1]: token } })
}

function listsIn(values: SessionValues): Readonly<Record<string, Tokens>> {
  const value = values.get(KEY)
  return typeof value === 'object' && value !== null ? (value as Record<string, Tokens>) : {}
}
