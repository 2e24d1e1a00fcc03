import type { Tool } from '@mulligan/core'
import { publicOnly } from './net/guard.ts'
import { webFetchTool } from './web_fetch/tool.ts'
import type { SearchOptions } from './web_search/providers.ts'
import { webSearchTool } from './web_search/tool.ts'

export interface WebOptions {
  /** Private addresses that may be fetched anyway: `host:port`, exactly as in the URL. Default none. */
  readonly allowPrivate?: readonly string[]
  /**
   * The search service, by its key or URL. The first of `searxng`, `brave` and `tavily` is used. Default none: `web_search` then explains
   * how to configure one.
   */
  readonly search?: SearchOptions
}

/**
 * Creates the web tools. They do not read environment variables.
 *
 * @throws TypeError for an entry of `allowPrivate` that is not a `host:port`
 * @example
 * const tools = webTools({ allowPrivate: ['wiki.intranet:80'], search: { searxng: { url: 'http://127.0.0.1:8888' } } })
 */
export function webTools({ allowPrivate = [], search = {} }: WebOptions = {}): Tool[] {
  return [webFetchTool({ guard: publicOnly(allowPrivate) }), webSearchTool(search)]
}
