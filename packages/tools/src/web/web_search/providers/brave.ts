import { list, member, type SearchProvider } from '../provider.ts'

const API = 'https://api.search.brave.com'

/** Brave Search: https://api-dashboard.search.brave.com/documentation */
export const brave = ({ key, url = API }: { readonly key: string; readonly url?: string }): SearchProvider => ({
  name: 'Brave',
  setting: 'BRAVE_API_KEY',
  request(query, limit) {
    const to = new URL('/res/v1/web/search', url)
    to.search = new URLSearchParams({ q: query, count: String(limit) }).toString()
    return { url: to, method: 'GET', headers: { 'x-subscription-token': key } }
  },
  rows(answer) {
    if (member(answer, 'type') !== 'search') return undefined
    // A search that finds nothing has no `web` at all.
    return list(member(member(answer, 'web'), 'results') ?? [])?.map(({ title, url, description }) => ({
      title,
      url,
      snippet: description,
    }))
  },
  // It calls a wrong key a wrong value.
  refusal: (status) => (status === 422 ? 'does not accept the key' : undefined),
})
