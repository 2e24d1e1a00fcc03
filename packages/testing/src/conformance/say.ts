/** Observations in words. */
import { type ContentPart, estimateTokens, type ToolResult } from '@mulligan/core'
import type { Observed } from './scene.ts'
import type { Run } from './subject.ts'

/** "ok", "ok, count 0", "retry (not_found)". */
export function outcomeText(result: ToolResult): string {
  if (!result.ok) return `${result.status} (${result.errorType})`
  return result.count === undefined ? 'ok' : `ok, count ${result.count}`
}

/** The call as the report names it. */
export function callName({ example, observed }: Pick<Run, 'example' | 'observed'>): string {
  const input = JSON.stringify(observed.input)
  const short = input.length > 100 ? `${input.slice(0, 100)}…` : input
  return example ? `the ${example.outcome} example ${short}` : `the input ${short}`
}

/** Tokens of the largest text that the model would read. */
export const maxTokens = (seen: readonly Observed[]): number => Math.max(0, ...seen.map(({ text }) => estimateTokens(text)))

/** The text of an ok result as the tool gave it: its content, otherwise its data. */
export function okText({ content, data }: { readonly content?: string | readonly ContentPart[]; readonly data: unknown }): string {
  if (typeof content === 'string') return content
  if (content !== undefined) return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
}

/** True when a text is in the files that the call was given: then it is the files' and not the tool's. */
export const isFromFiles = (text: string, files: Readonly<Record<string, string>>): boolean => {
  const line = text.trim()
  return line !== '' && Object.values(files).some((content) => content.includes(line))
}
