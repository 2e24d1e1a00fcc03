import { defineTool, empty, ModelRetry, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { plural } from '../../files/common/page.ts'
import { noted, type SessionState } from '../state.ts'

const MAX_CHARS = 10_000
/** Maximum characters and number of entries; the oldest are dropped first. */
const KEPT_CHARS = 60_000
const KEPT_ENTRIES = 200
const KEY = 'think'

const input = z.object({
  mode: z.enum(['think', 'observe', 'get', 'clear']).default('think').describe('what to do'),
  thought: z.string().trim().min(1).max(MAX_CHARS).optional().describe('for think and observe'),
})

interface Thought {
  readonly mode: 'think' | 'observe'
  readonly text: string
}

/** Creates the tool for the model's own notes, kept for the session. */
export function thinkTool(state: SessionState): Tool {
  return defineTool({
    name: 'think',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    digest: 'notes',
    readsWorkspace: false,
    timeout: 10,
    aliases: ['react', 'thinking', 'scratchpad', { name: 'sequentialthinking', adapt: fromSequence }],
    parameterAliases: { thought: ['thoughts', 'text', 'content', 'observation', 'note', 'reasoning'], mode: ['action'] },
    target: () => 'scratchpad',
    examples: [
      { outcome: 'ok', input: { thought: 'The test fails before the change too.' } },
      { outcome: 'empty', input: { mode: 'get' }, why: 'nothing is noted yet' },
      { outcome: 'retry', input: { mode: 'observe' }, why: 'what was seen is missing' },
    ],
    execute: (call) => think(state, call),
  })
}

/** Adapts sequential-thinking calls, dropping their counters. */
const fromSequence = ({ thought, mode }: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries({ thought, mode }).filter(([, value]) => value !== undefined))

async function think(state: SessionState, { mode, thought }: z.infer<typeof input>): Promise<ToolOk> {
  const entries = thoughtsIn(state.get(KEY))
  if (mode === 'get') {
    if (entries.length === 0) return empty({ entries }, 'Nothing is noted.', noted(state))
    const text = entries.map((one) => `${one.mode}: ${one.text}`).join('\n')
    return ok({ entries }, { content: text, count: entries.length, ...noted(state) })
  }
  if (mode === 'clear') {
    if (entries.length > 0) await state.set(KEY, [])
    return ok({ cleared: entries.length }, { content: `Cleared: ${plural(entries.length, 'note')}.`, ...noted(state) })
  }
  if (thought === undefined)
    throw new ModelRetry(`"thought" is missing; mode ${mode} notes it.`, {
      parameter: 'thought',
      constraint: `a text, for mode ${mode}`,
      call: { tool: 'think', input: { mode: 'get' } },
    })
  const all = [...entries, { mode, text: thought }]
  const kept = latest(all)
  await state.set(KEY, kept)
  const dropped = all.length - kept.length
  const notes = dropped > 0 ? [`The oldest ${plural(dropped, 'note')} went, to make room.`] : []
  return ok({ entries: kept.length }, { content: 'Noted.', count: kept.length, ...noted(state, notes) })
}

function latest(all: readonly Thought[]): Thought[] {
  let chars = 0
  const from = all.findLastIndex(({ text }, at) => {
    chars += text.length
    return chars > KEPT_CHARS || all.length - at > KEPT_ENTRIES
  })
  return all.slice(from + 1)
}

/** Ignores entries that are invalid, such as those from another version or edited by hand. */
const thoughtsIn = (value: unknown): Thought[] =>
  Array.isArray(value) ? value.filter((one) => typeof one?.text === 'string' && (one.mode === 'think' || one.mode === 'observe')) : []
