import { defineTool, ok, type Tool } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'

/** Longer messages are cut. */
const MAX_CHARS = 200
const MAX_STAGE = 60

const input = z.object({
  message: z.string().trim().min(1).describe(`at most ${MAX_CHARS} characters`),
  pct: z.number().min(0).max(100).optional().describe('percent done'),
  stage: z.string().trim().min(1).max(MAX_STAGE).optional().describe('name of the phase'),
})

/** The message as one line, cut if it is too long. */
const shown = (message: string): string => {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_CHARS ? `${line.slice(0, MAX_CHARS - 1)}…` : line
}

/** Creates the tool that shows one line to the user: its subject. The display is responsible for making it safe for a terminal. */
export function progressUpdateTool(): Tool {
  return defineTool({
    name: 'progress_update',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    digest: 'notes',
    readsWorkspace: false,
    timeout: 10,
    aliases: ['progress', 'report_progress', 'update_progress'],
    parameterAliases: { message: ['text', 'status', 'summary'], pct: ['percent', 'percentage', 'progress'], stage: ['phase', 'step'] },
    target: () => 'progress',
    subject: ({ message, pct, stage }) =>
      `${stage === undefined ? '' : `${stage}: `}${shown(message)}${pct === undefined ? '' : ` (${Math.round(pct)} %)`}`,
    examples: [
      { outcome: 'ok', input: { message: 'Read 3 of 9 files', pct: 33, stage: 'reading' } },
      { outcome: 'retry', input: { message: 'Nearly there', pct: 140 }, why: 'above 100' },
    ],
    execute: (given) => {
      const message = shown(given.message)
      const isCut = message !== given.message.replaceAll(/\s+/g, ' ').trim()
      return ok({ ...given, message }, { content: 'Shown.', ...(isCut && { notes: [`The message was cut to ${MAX_CHARS} characters.`] }) })
    },
  })
}
