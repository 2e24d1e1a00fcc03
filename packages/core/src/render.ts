/** Renders a result as the text the model reads. */
import { shown } from '@mulligan/repair'
import type { Content, ContentPart, ErrorDetails, Status, SuggestedCall, ToolError, ToolOk, ToolResult, Truncated } from './result.ts'

/** Who acts next, in the contract's words. */
const NEXT: Readonly<Record<Status, string>> = {
  retry: '',
  failed: 'The call was right, the work failed. Choose another way.',
  unavailable: 'The engine has tried several times. Go on without it.',
  denied: 'Do not ask for this again.',
  indeterminate: 'It may have taken effect. Do not repeat it on your own, in this or another form.',
  closed: 'Finish without it.',
  blocked: 'Change course.',
  cancelled: 'The user stopped the turn.',
}

/** Nobody has denied it, so it is not refused for good; but asking again at once would find nobody either. */
const UNANSWERED = 'Nobody refused it. Go on without it, and say in your answer that it needs approval.'

/** Returns the text parts of a rendered result; {@link renderParts} includes media parts. */
export function render(result: ToolResult): string {
  return partsText(renderParts(result))
}

/** Renders a result with its media parts. A failed result begins with its status, whatever the provider. */
export function renderParts(result: ToolResult): readonly ContentPart[] {
  const body = result.ok ? okParts(result) : [text(errorText(result))]
  const tail = [...pageLines(result), ...(result.notes ?? []).map((note) => `Note: ${note}`)]
  const head = result.truncated ? [text(truncatedLine(result.truncated))] : []
  return merge([...head, ...body, ...(tail.length > 0 ? [text(tail.join('\n'))] : [])])
}

function okParts(result: ToolOk): ContentPart[] {
  if (result.content === undefined) return [text(result.count === 0 ? 'Nothing found (count: 0).' : dataText(result.data))]
  return contentParts(result.content)
}

/** Returns the text of the parts; a media part is only named. */
export const partsText = (parts: readonly ContentPart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : `[${part.mediaType}]`)).join('\n')
export const contentParts = (content: Content): ContentPart[] => (typeof content === 'string' ? [text(content)] : [...content])

/** Renders data when the tool gives no content: text unchanged, everything else as compact JSON. */
export function dataText(data: unknown): string {
  if (data === undefined || data === null) return 'Done.'
  if (typeof data === 'string') return data === '' ? '(empty)' : data
  return JSON.stringify(data) ?? String(data)
}

/** Returns the lines about paging. Results without pages say themselves how to continue. */
function pageLines(result: ToolResult): string[] {
  if (!result.ok || result.hasMore === undefined || (result.page === undefined && !result.hasMore)) return []
  const next = result.page === undefined ? '' : `, next: page=${result.page + 1}`
  const line = result.hasMore ? `has_more=true${next}` : 'has_more=false'
  return typeof result.content === 'string' && result.content.includes('has_more=') ? [] : [line]
}

function errorText(result: ToolError): string {
  const { status, errorType, error, details = {}, content } = result
  const lines = [`${status} (${errorType}): ${error}`]
  if (content !== undefined) lines.push(partsText(contentParts(content)))
  lines.push(...detailLines(details, error))
  // Two suggestions would be one too many.
  const isTold = status === 'failed' && details.call !== undefined
  const next = /^(nobody|timeout)$/.test(String(details['by'])) ? UNANSWERED : isTold ? '' : NEXT[status]
  if (next) lines.push(next)
  if (status === 'retry' && details.triesLeft !== undefined) lines.push(triesText(details.triesLeft))
  return lines.join('\n')
}

function detailLines(details: ErrorDetails, error: string): string[] {
  const { parameter, value, constraint, suggestion, candidates = [], call, example } = details
  const lines: string[] = []
  if (constraint !== undefined && !error.includes(constraint)) {
    const got = value === undefined || value === null ? '' : `got ${shown(value)}; `
    lines.push(parameter === undefined ? `Send ${constraint}.` : `${parameter}: ${got}must be ${constraint}.`)
  }
  const others = [...new Set([suggestion, ...candidates].map((one) => JSON.stringify(one)))].filter((one) => one !== undefined)
  if (others.length > 0 && !(others.length === 1 && call)) lines.push(`Nearest: ${others.slice(0, 6).join(', ')}`)
  if (call) lines.push(`Call instead: ${callText(call)}`)
  else if (isCall(example)) lines.push(`For example: ${callText(example)}`)
  return lines
}

const isCall = (value: unknown): value is SuggestedCall =>
  typeof value === 'object' && value !== null && 'tool' in value && 'input' in value

/** Formats a call as the model writes and reads it: `read_file({"path":"a.ts"})`. */
export const callText = ({ tool, input }: SuggestedCall): string => `${tool}(${JSON.stringify(input)})`

function triesText(left: number): string {
  if (left === 0) return 'That was the last try: this tool is closed now.'
  return left === 1 ? 'One try left: the next wrong call closes this tool.' : `${left} tries left.`
}

const truncatedLine = ({ shown: some, total, spill }: Truncated): string =>
  `[${total} characters in all, ${some} shown${spill ? `; the whole is in ${spill}, read it in pages` : ''}]`

const text = (value: string): ContentPart => ({ type: 'text', text: value })

/** Merges adjacent text parts. */
function merge(parts: readonly ContentPart[]): ContentPart[] {
  const merged: ContentPart[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (part.type === 'text' && last?.type === 'text') merged[merged.length - 1] = text(`${last.text}\n${part.text}`)
    else merged.push(part)
  }
  return merged
}
