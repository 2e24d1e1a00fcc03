/** `mulligan sessions show` and `export`: the conversation, to be read or kept. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { redact, type Store } from '@mulligan/agent'
import { safeJson, UsageError } from '@mulligan/host/light'
import type { Output } from '../../ui/output.ts'
import type { Conversation } from './conversation.ts'
import { markdownOf } from './markdown.ts'
import { askedSession, readConversation, type SessionFlags, withStore } from './open.ts'

/** @throws UsageError */
export async function showSession(id: string | undefined, flags: SessionFlags, { out }: Output): Promise<number> {
  return withStore(async (store) => {
    const conversation = await readConversation(store, await askedSession(store, id, flags))
    out(flags.json ? `${safeJson(jsonOf(conversation))}\n` : markdownOf(conversation))
    return 0
  })
}

export const EXPORT_FORMATS = ['md', 'json', 'jsonl'] as const

export interface ExportFlags extends SessionFlags {
  /** Default: `md`. */
  readonly format?: (typeof EXPORT_FORMATS)[number]
  /** Default: stdout. */
  readonly output?: string
}

/** Without the keys that the environment holds, whoever wrote them into the conversation. @throws UsageError */
export async function exportSession(id: string | undefined, flags: ExportFlags, { out, err }: Output): Promise<number> {
  return withStore(async (store) => {
    const session = await askedSession(store, id, flags)
    const text = redact(await textIn(flags.format ?? 'md', store, await readConversation(store, session)), secretsIn(process.env))
    if (flags.output === undefined || flags.output === '-') out(text)
    else {
      writeTo(flags.output, text)
      err(`Session ${session.id} was written to ${flags.output}.\n`)
    }
    return 0
  })
}

async function textIn(format: (typeof EXPORT_FORMATS)[number], store: Store, conversation: Conversation): Promise<string> {
  if (format === 'md') return markdownOf(conversation)
  if (format === 'json') return `${safeJson(jsonOf(conversation), 2)}\n`
  const events = await store.events({ sessionId: conversation.session.id })
  return events.map((event) => `${safeJson(event)}\n`).join('')
}

const jsonOf = ({ session, turns }: Conversation) => ({ ...session, turns })

const SECRET = /(?:KEY|TOKEN|SECRET|PASSWORD)$/i
const SHORTEST = 8

const secretsIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.entries(env).flatMap(([name, value = '']) => (SECRET.test(name) && value.length >= SHORTEST ? [value] : []))

function writeTo(path: string, text: string): void {
  try {
    writeFileSync(resolve(path), text, { mode: 0o600 })
  } catch (error) {
    throw new UsageError(
      `${path} can't be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
      'Name another file with -o.',
    )
  }
}
