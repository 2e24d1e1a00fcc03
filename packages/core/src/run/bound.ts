/** Bounds output before the model reads it: keeps the head and tail, states the totals first, and spills the full text for paging. */
import { contentParts, dataText, partsText } from '../render.ts'
import type { ContentPart, ErrorDetails, SuggestedCall, ToolError, ToolResult } from '../result.ts'
import { CHARS_PER_TOKEN } from '../tokens.ts'

/** Writes an overlong text to a place where the model can read it, and returns the path. */
export type Spill = (text: string, callId: string) => Promise<string>

export interface Bound {
  /** Maximum tokens of a result. */
  readonly maxTokens: number
  readonly spill?: Spill | undefined
  readonly callId: string
}

/** The head's share of the kept text. The end of an output shows how it went; the beginning shows what it is. */
const HEAD = 0.6
const MAX_ERROR = 4000
const MAX_NOTE = 1000
const MAX_NOTES = 20
/** Maximum characters of a suggested call: a whole file's content does not belong in a hint. */
const MAX_CALL = 2000
const MAX_DISPLAY = 200_000

export const bound = async (result: ToolResult, options: Bound): Promise<ToolResult> => boundNow(result, options)

/** Bounds a result, synchronously if nothing has to be spilled. */
export function boundNow(result: ToolResult, options: Bound): ToolResult | Promise<ToolResult> {
  const budget = Math.floor(options.maxTokens * CHARS_PER_TOKEN)
  const trimmed = trimWords(result)
  if (!trimmed.ok && trimmed.content === undefined) return trimmed
  const content = trimmed.content ?? (trimmed.ok ? dataText(trimmed.data) : '')
  const parts = contentParts(content)
  const total = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  if (total <= budget) return trimmed
  return cutTo(budget, trimmed, parts, total, options)
}

async function cutTo(
  budget: number,
  result: ToolResult,
  parts: readonly ContentPart[],
  total: number,
  { spill, callId }: Bound,
): Promise<ToolResult> {
  const whole = partsText(parts)
  const file = await spill?.(whole, callId).catch(() => undefined)
  const media = parts.filter((part) => part.type === 'media')
  const { text, shown } = headAndTail(whole, budget)
  return {
    ...result,
    content: media.length > 0 ? [{ type: 'text', text }, ...media] : text,
    truncated: { shown, total, ...(file !== undefined && { spill: file }) },
  }
}

/** Returns the first and last lines that fit into `budget` characters, with the size of the gap. Never splits a surrogate pair. */
export function headAndTail(text: string, budget: number): { readonly text: string; readonly shown: number } {
  if (text.length <= budget) return { text, shown: text.length }
  const head = cutHead(text, Math.floor(budget * HEAD))
  const tail = cutTail(text, budget - head.length)
  const gap = text.length - head.length - tail.length
  return { text: `${head}\n… ${gap} characters left out …\n${tail}`, shown: head.length + tail.length }
}

function cutHead(text: string, most: number): string {
  let end = most
  if (isHigh(text.charCodeAt(end - 1))) end--
  const line = text.lastIndexOf('\n', end)
  return text.slice(0, line > most / 2 ? line : end)
}

function cutTail(text: string, most: number): string {
  let start = Math.max(0, text.length - most)
  if (isLow(text.charCodeAt(start))) start++
  const line = text.indexOf('\n', start)
  return text.slice(line !== -1 && line - start < most / 2 ? line + 1 : start)
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** Trims an error's message, its hint, the notes and the person's Markdown, each to its own limit. */
function trimWords(result: ToolResult): ToolResult {
  const { display, notes } = result
  if (result.ok && display === undefined && notes === undefined) return result
  const shorter: ToolResult = {
    ...result,
    ...(display !== undefined && { display: clip(display, MAX_DISPLAY) }),
    ...(notes && { notes: notes.slice(0, MAX_NOTES).map((note) => clip(note, MAX_NOTE)) }),
  }
  if (shorter.ok) return shorter
  const { error, details } = shorter as ToolError
  return { ...(shorter as ToolError), error: clip(error, MAX_ERROR), ...(details && { details: trimHint(details) }) }
}

/** Drops hint values that repeat a long input and would cost more than the call. The message stays. */
function trimHint(details: ErrorDetails): ErrorDetails {
  const { constraint, suggestion, candidates, call, example, ...rest } = details
  const fits = (value: unknown, most = MAX_NOTE): boolean => value !== undefined && (JSON.stringify(value)?.length ?? 0) <= most
  return {
    ...rest,
    ...(constraint !== undefined && { constraint: clip(constraint, MAX_NOTE) }),
    ...(fits(suggestion) && { suggestion }),
    ...(candidates && { candidates: candidates.slice(0, MAX_NOTES).filter((one) => fits(one)) }),
    ...(fits(call, MAX_CALL) && { call: call as SuggestedCall }),
    ...(fits(example, MAX_CALL) && { example }),
  }
}

const clip = (text: string, most: number): string => headAndTail(text, most).text
