import type { SearchProvider } from '../provider.ts'
import { brave } from './brave.ts'
import { searxng } from './searxng.ts'
import { tavily } from './tavily.ts'

/** What is configured. `url` of Brave and Tavily is for those who reach them by another way. */
export interface SearchOptions {
  readonly searxng?: { readonly url: string }
  readonly brave?: { readonly key: string; readonly url?: string }
  readonly tavily?: { readonly key: string; readonly url?: string }
}

/** The first that is configured, one's own before a company's. */
export function providerOf(options: SearchOptions): SearchProvider | undefined {
  if (options.searxng) return searxng(options.searxng)
  if (options.brave) return brave(options.brave)
  return options.tavily && tavily(options.tavily)
}
