/** A changeset as it is written down. */
import { z } from 'zod'
import type { Step } from './step.ts'

const rights = { mode: z.int().optional(), owner: z.object({ uid: z.int(), gid: z.int() }).optional(), inode: z.number().optional() }
const hash = z.string().regex(/^[0-9a-f]{64}$/)
const state = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('missing') }),
  z.object({ kind: z.literal('file'), hash, size: z.int(), ...rights, mtime: z.number().optional() }),
  z.object({ kind: z.literal('directory'), ...rights }),
  z.object({ kind: z.literal('link'), target: z.string() }),
])
/** Below the workspace, whoever wrote the record. */
const path = z.string().refine((text) => text !== '' && !text.split('/').some((part) => part === '' || part === '.' || part === '..'))
const temporary = z.string().regex(/^\.mulligan-[0-9a-f]+\.tmp$/)
const steps = z.array(
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('set'), path, before: state, after: state, temporary, lenient: z.boolean().optional() }),
    z.object({ kind: z.literal('move'), from: path, to: path, state }),
  ]),
)

const schema = z.object({
  version: z.literal(1),
  kind: z.enum(['call', 'undo', 'redo']),
  turn: z.string(),
  callId: z.string().optional(),
  at: z.number(),
  steps,
  left: steps.optional(),
})

export interface Changeset {
  readonly version: 1
  /** `call`: made by a tool. The others take a turn back, and make it again. */
  readonly kind: 'call' | 'undo' | 'redo'
  readonly turn: string
  readonly callId?: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly steps: readonly Step[]
  /** Of an undo or redo: what it was to take back, or make again, and could not. */
  readonly left?: readonly Step[]
}

/** @throws when it is none */
export const parseChangeset = (text: string): Changeset => schema.parse(JSON.parse(text)) as Changeset
