import { ModelRetry } from '@mulligan/core'

export interface Page<T> {
  readonly items: readonly T[]
  readonly page: number
  readonly pages: number
  readonly hasMore: boolean
}

/** @throws ModelRetry for a page past the last one. */
export function pageOf<T>(all: readonly T[], page: number, limit: number): Page<T> {
  const pages = Math.max(1, Math.ceil(all.length / limit))
  if (page > pages)
    throw new ModelRetry(`There ${pages === 1 ? 'is only 1 page' : `are only ${pages} pages`} of ${limit}.`, {
      parameter: 'page',
      value: page,
      constraint: `a page from 1 to ${pages}`,
      suggestion: pages,
    })
  return { items: all.slice((page - 1) * limit, page * limit), page, pages, hasMore: page < pages }
}

/** The line that ends a page when there are more. */
export const nextPage = ({ hasMore, page }: Page<unknown>): string => (hasMore ? `\nhas_more=true, next: page=${page + 1}` : '')

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

/** `1.5 kB`, as people read sizes. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  for (const [unit, scale] of [
    ['kB', 1e3],
    ['MB', 1e6],
    ['GB', 1e9],
  ] as const)
    if (bytes < scale * 1000 || unit === 'GB') return `${(bytes / scale).toFixed(1)} ${unit}`
  return `${bytes} B`
}
