import { list, member, type SearchProvider } from '../provider.ts'

const API = 'https://api.tavily.com'

/** Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search */
export const tavily = ({ key, url = API }: { readonly key: string; readonly url?: string }): SearchProvider => ({
  name: 'Tavily',
  setting: 'TAVILY_API_KEY',
  request: (query, limit) => ({
    url: new URL('/search', url),
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, max_results: limit }),
  }),
  rows: (answer) => list(member(answer, 'results'))?.map(({ title, url, content }) => ({ title, url, snippet: content })),
  refusal: (status) => (status === 432 || status === 433 ? 'says that the plan is used up' : undefined),
})
