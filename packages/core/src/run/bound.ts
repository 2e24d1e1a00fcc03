/** Bounds output before the model reads it: keeps head and tail, states the totals first, and spills the full text for paging. */
import { contentParts, dataText, partText } from '../render.ts'
import type { ErrorDetails, SuggestedCall, ToolError, ToolResult } from '../result.ts'
import { CHARS_PER_TOKEN } from '../tokens.ts'

/** Writes an over-long text to where the model can read it, and returns the path to read. */
export type Spill = (text: string, callId: string) => Promise<string>

export interface Bound {
  /** Tokens a result may have. */
  readonly maxTokens: number
  readonly spill?: Spill | undefined
  readonly callId: string
}

/** Of what is kept, the share of the head. The end of an output says how it went, the beginning what it is. */
const HEAD = 0.6
const MAX_ERROR = 4000
const MAX_NOTE = 1000
const MAX_NOTES = 20
/** A suggested call: a whole file's content does not belong in a hint. */
const MAX_CALL = 2000
const MAX_DISPLAY = 200_000

export async function bound(result: ToolResult, options: Bound): Promise<ToolResult> {
  const budget = Math.floor(options.maxTokens * CHARS_PER_TOKEN)
  const trimmed = trimWords(result)
  if (!trimmed.ok && trimmed.content === undefined) return trimmed
  const content = trimmed.content ?? (trimmed.ok ? dataText(trimmed.data) : '')
  const parts = contentParts(content)
  const total = parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0)
  if (total <= budget) return trimmed
  const whole = parts.map(partText).join('\n')
  const spill = await options.spill?.(whole, options.callId).catch(() => undefined)
  const media = parts.filter((part) => part.type === 'media')
  const cut = headAndTail(whole, budget)
  return {
    ...trimmed,
    content: media.length > 0 ? [{ type: 'text', text: cut.text }, ...media] : cut.text,
    truncated: { shown: cut.shown, total, ...(spill !== undefined && { spill }) },
  }
}

/** The first and last lines that fit `budget` characters, with the size of the gap. Never half a surrogate pair. */
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

/** The sentences of an error, its hint, notes and the person's Markdown have ceilings of their own. */
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

/** A hint that repeats a long input would cost more than the call: it goes, and the sentence stays. */
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
