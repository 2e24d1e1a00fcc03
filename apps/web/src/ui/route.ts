/** The pages, kept in the URL's fragment so that the server needs to know only one address. */
import { useSyncExternalStore } from 'react'

export type Route =
  | { readonly page: 'start' }
  | { readonly page: 'session'; readonly id: string; readonly turn?: string }
  | { readonly page: 'reliability' }

export function routeOf(hash: string): Route {
  const [, page, id, view, turn] = hash.split('/')
  if (page === 's' && id) {
    const isTimeline = view === 'timeline' && turn
    return { page: 'session', id: decode(id), ...(isTimeline && { turn: decode(turn) }) }
  }
  return page === 'reliability' ? { page: 'reliability' } : { page: 'start' }
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const START = '#/'
export const RELIABILITY = '#/reliability'
export const sessionHref = (id: string): string => `#/s/${encodeURIComponent(id)}`
export const timelineHref = (id: string, turn: string): string => `${sessionHref(id)}/timeline/${encodeURIComponent(turn)}`

export const go = (href: string): void => {
  location.hash = href
}

const subscribe = (changed: () => void): (() => void) => {
  addEventListener('hashchange', changed)
  return () => removeEventListener('hashchange', changed)
}

export function useHash(): string {
  return useSyncExternalStore(subscribe, () => location.hash)
}
