import type { Tool } from '@mulligan/core'
import { publicOnly } from './net/guard.ts'
import { webFetchTool } from './web_fetch/tool.ts'
import type { SearchOptions } from './web_search/providers/index.ts'
import { webSearchTool } from './web_search/tool.ts'

export interface WebOptions {
  /** Addresses that are not public and may be fetched all the same: `host:port`, exactly as in the URL. Default none. */
  readonly allowPrivate?: readonly string[]
  /** The search service, by its key or URL. The first of `searxng`, `brave`, `tavily` is asked. Default none: `web_search` says how. */
  readonly search?: SearchOptions
}

/**
 * The tools for the web. They read no environment variable.
 *
 * @throws TypeError for an entry of `allowPrivate` that is no `host:port`
 * @example
 * const tools = webTools({ allowPrivate: ['wiki.intranet:80'], search: { searxng: { url: 'http://127.0.0.1:8888' } } })
 */
export function webTools({ allowPrivate = [], search = {} }: WebOptions = {}): Tool[] {
  return [webFetchTool({ guard: publicOnly(allowPrivate) }), webSearchTool(search)]
}
