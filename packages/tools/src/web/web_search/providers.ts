/** The search services. To add one, write a function and add a line to {@link providerOf}. */

interface Request {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A result as received. */
export interface Row {
  readonly title: unknown
  readonly url: unknown
  readonly snippet: unknown
}

export interface SearchProvider {
  /** Display name, such as `Brave`. */
  readonly name: string
  /** The setting that contains its key or URL. */
  readonly setting: string
  readonly request: (query: string, limit: number) => Request
  /** Returns the rows in the service's order, or undefined if the response does not follow its protocol. */
  readonly rows: (answer: unknown) => readonly Row[] | undefined
  /** Explains a service-specific refusal that the status alone does not. */
  readonly refusal: (status: number) => string | undefined
}

/** The configured services. `url` of Brave and Tavily is for access through another endpoint. */
export interface SearchOptions {
  readonly searxng?: { readonly url: string }
  readonly brave?: { readonly key: string; readonly url?: string }
  readonly tavily?: { readonly key: string; readonly url?: string }
}

/** Returns the first configured service, preferring a self-hosted one. */
export const providerOf = (options: SearchOptions): SearchProvider | undefined =>
  options.searxng ? searxng(options.searxng) : options.brave ? brave(options.brave) : options.tavily && tavily(options.tavily)

type Fields = Readonly<Record<string, unknown>>
const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

/** Converts a list of objects to rows. `snippet` is the service's field name for a result's text. */
const rowsIn = (list: unknown, snippet: string): readonly Row[] | undefined =>
  Array.isArray(list)
    ? list
        .filter((one) => typeof one === 'object' && one !== null)
        .map((one) => ({ title: one.title, url: one.url, snippet: one[snippet] }))
    : undefined

/** A self-hosted SearXNG: https://docs.searxng.org/dev/search_api.html */
const searxng = ({ url }: { readonly url: string }): SearchProvider => ({
  name: 'SearXNG',
  setting: 'SEARXNG_URL',
  request: (query) => {
    const base = new URL(url)
    const to = new URL(`${base.pathname.replace(/\/(?:search\/?)?$/, '')}/search`, base)
    to.search = new URLSearchParams({ q: query, format: 'json' }).toString()
    return { url: to, method: 'GET', headers: {} }
  },
  rows: (answer) => rowsIn(fields(answer)['results'], 'content'),
  refusal: (status) => (status === 403 ? 'refuses: its settings.yml must have "json" in search.formats' : undefined),
})

/** Brave Search: https://api-dashboard.search.brave.com/documentation */
const brave = ({ key, url = 'https://api.search.brave.com' }: { readonly key: string; readonly url?: string }): SearchProvider => ({
  name: 'Brave',
  setting: 'BRAVE_API_KEY',
  request: (query, limit) => {
    const to = new URL('/res/v1/web/search', url)
    to.search = new URLSearchParams({ q: query, count: String(limit) }).toString()
    return { url: to, method: 'GET', headers: { 'x-subscription-token': key } }
  },
  // A response without results has no `web` field.
  rows: (answer) => {
    const { type, web } = fields(answer)
    return type === 'search' ? rowsIn(fields(web)['results'] ?? [], 'description') : undefined
  },
  // Brave reports a wrong key as an invalid value.
  refusal: (status) => (status === 422 ? 'does not accept the key' : undefined),
})

/** Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search */
const tavily = ({ key, url = 'https://api.tavily.com' }: { readonly key: string; readonly url?: string }): SearchProvider => ({
  name: 'Tavily',
  setting: 'TAVILY_API_KEY',
  request: (query, limit) => ({
    url: new URL('/search', url),
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, max_results: limit }),
  }),
  rows: (answer) => rowsIn(fields(answer)['results'], 'content'),
  refusal: (status) => (status === 432 || status === 433 ? 'reports that the quota of the plan is used up' : undefined),
})
