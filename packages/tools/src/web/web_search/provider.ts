/** What a search service is to the tool. A new one is one file in `providers/` and one line in its `index.ts`. */

export interface SearchResult {
  readonly title: string
  readonly url: string
  /** Plain text; empty where the service gives none. */
  readonly snippet: string
}

export interface SearchRequest {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface SearchProvider {
  /** For people: `Brave`. */
  readonly name: string
  /** The setting that holds its key or its URL. */
  readonly setting: string
  readonly request: (query: string, limit: number) => SearchRequest
  /** Its rows, as they came, in its order. `undefined` when the answer is not of its protocol. */
  readonly rows: (answer: unknown) => readonly Row[] | undefined
  /** What a refusal of its own kind means, where the status alone does not say it. */
  readonly refusal?: (status: number) => string | undefined
}

export interface Row {
  readonly title: unknown
  readonly url: unknown
  readonly snippet: unknown
}

/** A list of objects within an answer. */
export function list(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : undefined
}

/** A member of what may be no object. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
