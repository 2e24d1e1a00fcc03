/** Tools and results as a client reads them. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { type CallRecord, render, type Tool, type ToolResult } from '@mulligan/core'
import { type ContentPart, renderParts } from '@mulligan/core/executor'
import { isRecord } from '@mulligan/repair'

/** The annotations say no less than the tool's effect. @param structured whether results have structured content */
export const listed = (
  { name, description, effect, idempotent, untrusted, inputSchema }: Tool,
  structured: boolean,
): Record<string, unknown> & { name: string; inputSchema: { type: 'object' } } => ({
  ...{ name, description, inputSchema: { ...inputSchema, type: 'object' as const } },
  ...(structured && { outputSchema: OUTPUT }),
  annotations: {
    readOnlyHint: effect === 'read',
    destructiveHint: effect !== 'read',
    idempotentHint: effect === 'read' || idempotent,
    openWorldHint: effect === 'external' || untrusted,
  },
})

/** What every tool returns, for programs: one schema, because tools return values of any kind. */
export const OUTPUT = {
  type: 'object' as const,
  properties: {
    ok: { type: 'boolean', description: 'Whether it worked. Nothing found is ok, with count 0.' },
    data: { description: 'What the tool returned. Absent if it is too large.' },
    count: { type: 'integer' },
    page: { type: 'integer' },
    hasMore: { type: 'boolean' },
    notes: { type: 'array', items: { type: 'string' } },
    truncated: { type: 'object', properties: { shown: { type: 'integer' }, total: { type: 'integer' } } },
    status: { type: 'string', description: 'What to do about a failure.' },
    errorType: { type: 'string', description: 'What went wrong.' },
    error: { type: 'string' },
    details: { type: 'object' },
  },
  required: ['ok'],
}

/** Characters of the data of a result; more is only in the content, in pages. */
const MAX_DATA = 50_000

export function resultOf({ result }: CallRecord, structured: boolean): CallToolResult {
  const parts = result.ok ? renderParts(result) : [{ type: 'text' as const, text: render(result) }]
  return {
    content: parts.map(contentOf),
    ...(structured && { structuredContent: structuredOf(result) }),
    ...(!result.ok && { isError: true }),
  }
}

function contentOf(part: ContentPart): CallToolResult['content'][number] {
  if (part.type === 'text') return part
  const { data, mediaType: mimeType } = part
  const [kind] = mimeType.split('/')
  if (kind === 'image' || kind === 'audio') return { type: kind, data, mimeType }
  return { type: 'resource', resource: { uri: 'data:', blob: data, mimeType } }
}

function structuredOf(result: ToolResult): Record<string, unknown> {
  const { notes, truncated } = result
  const told = { ...(notes && { notes }), ...(truncated && { truncated: { shown: truncated.shown, total: truncated.total } }) }
  if (!result.ok) {
    const details = plain(result.details)
    const { status, errorType, error } = result
    return { ok: false, status, errorType, error, ...(isRecord(details) && { details }), ...told }
  }
  const { count, page, hasMore } = result
  const data = plain(result.data)
  const paged = { ...(count !== undefined && { count }), ...(page !== undefined && { page }), ...(hasMore !== undefined && { hasMore }) }
  return { ok: true, ...(data !== undefined && { data }), ...paged, ...told }
}

/** The value as JSON has it; undefined if it is too large, or is no JSON. */
function plain(value: unknown): unknown {
  try {
    const text = JSON.stringify(value)
    return text === undefined || text.length > MAX_DATA ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
