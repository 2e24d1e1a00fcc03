/** A model that plays several agents at once: each by its own script, told apart by the first message of its conversation. */
import type { RecordedRequest, ScriptedTurn, TurnFunction } from '@mulligan/testing'
import type { TaskAgent } from '../options.ts'

/** @param scripts by the beginning of the first message; a turn's number in its script is the number of replies so far */
export const byTask =
  (scripts: Readonly<Record<string, readonly ScriptedTurn[]>>): TurnFunction =>
  (request) => {
    const messages = messagesOf(request)
    const first = JSON.stringify(messages.find(({ role }) => role === 'user')?.content)
    const name = Object.keys(scripts).find((begin) => first.includes(begin))
    return scripts[name ?? '']?.[messages.filter(({ role }) => role === 'assistant').length]
  }

interface Sent {
  readonly role: string
  readonly content: unknown
}

export const messagesOf = ({ body }: RecordedRequest): readonly Sent[] => (body as { readonly messages: readonly Sent[] }).messages

export const EXPLORE: TaskAgent = {
  role: { name: 'explore', withholds: ({ name, effect }) => (effect === 'read' ? undefined : `explore does not have ${name}.`) },
  description: 'looks for something and changes nothing',
  changes: false,
}
export const GENERAL: TaskAgent = { role: { name: 'general' }, description: 'does a part of the work', changes: true }
