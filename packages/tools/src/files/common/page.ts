import { ModelRetry } from '@mulligan/core'
import { about } from '../../workspace/errors.ts'

export interface Page<T> {
  readonly items: readonly T[]
  readonly page: number
  readonly pages: number
  readonly hasMore: boolean
}

/** @throws ModelRetry for a page past the last one */
export function pageOf<T>(all: readonly T[], page: number, limit: number): Page<T> {
  const pages = Math.max(1, Math.ceil(all.length / limit))
  if (page > pages) {
    const says = `There ${pages === 1 ? 'is only 1 page' : `are only ${pages} pages`} of ${limit}.`
    throw new ModelRetry(says, about('page', page, `a page from 1 to ${pages}`, { suggestion: pages }))
  }
  return { items: all.slice((page - 1) * limit, page * limit), page, pages, hasMore: page < pages }
}

/** Returns the line that ends a page if there are more. */
export const nextPage = ({ hasMore, page }: Page<unknown>): string => (hasMore ? `\nhas_more=true, next: page=${page + 1}` : '')

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`

/** Formats a size for people, such as `1.5 kB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const power = bytes < 1e6 ? 1 : bytes < 1e9 ? 2 : 3
  return `${(bytes / 1000 ** power).toFixed(1)} ${'kMG'[power - 1]}B`
}
