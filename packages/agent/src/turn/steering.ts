/**
 * Messages that the person sends while a turn runs. They become part of it before its next model request, as a journal step, so that a
 * resumed turn sends them at the same place.
 */
import { imagesNamed } from '../history/images.ts'
import type { UserMessage } from '../history/message.ts'
import { steerStep } from '../journal/journal.ts'
import type { Steer, TurnContext } from './turn-context.ts'

/** @returns a function that returns what joins the turn before the request of a step. `isOpen`: whether the turn still listens */
export function createSteering(context: TurnContext) {
  const { turnId, sessionId, journal, store, replies, steered, emitted, emit } = context

  return (step: number, isOpen: () => boolean): Promise<UserMessage | null> =>
    journal.step(steerStep(step), async () => {
      const saved = steered.get(step)
      // Nothing joins before a reply that has already been given.
      if (!saved && (replies.has(step) || !isOpen())) return null
      const message = saved ?? joined(turnId, step, context.steering?.() ?? [])
      if (!message) return null
      if (!saved) await store.saveMessage(sessionId, message)
      if (!emitted.has(message.id))
        await emit({ type: 'turn.steered', messageId: message.id, step, text: message.text, ...imagesNamed(message) })
      return message
    })
}

/** Joins what was said into one message, since many chat templates require alternating roles. */
function joined(turnId: string, step: number, said: readonly Steer[]): UserMessage | undefined {
  if (said.length === 0) return undefined
  const images = said.flatMap((one) => one.images ?? [])
  const mentions = said.flatMap((one) => one.mentions ?? [])
  return {
    ...{ role: 'user', id: `${turnId}/steer-${step}`, turnId, step },
    text: said.map(({ text }) => text).join('\n\n'),
    ...(mentions.length > 0 && { mentions }),
    ...(images.length > 0 && { images }),
    ...(said.some(({ attached, images = [] }) => attached || images.length > 0) && { attached: true }),
  }
}
