import { list, member, type SearchProvider } from '../provider.ts'

/** A SearXNG of one's own, or of one's network: https://docs.searxng.org/dev/search_api.html */
export const searxng = ({ url }: { readonly url: string }): SearchProvider => ({
  name: 'SearXNG',
  setting: 'SEARXNG_URL',
  request(query) {
    const base = new URL(url)
    const to = new URL(`${base.pathname.replace(/\/(?:search\/?)?$/, '')}/search`, base)
    to.search = new URLSearchParams({ q: query, format: 'json' }).toString()
    return { url: to, method: 'GET', headers: {} }
  },
  rows: (answer) => list(member(answer, 'results'))?.map(({ title, url, content }) => ({ title, url, snippet: content })),
  refusal: (status) => (status === 403 ? 'refuses: its settings.yml must have "json" in search.formats' : undefined),
})
