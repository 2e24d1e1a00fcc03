/** How a conversation is named, and what Slack says about it to readers and writers alike. */
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { Channel } from './directory.ts'

export const nameOf = ({ id, name }: Pick<Channel, 'id' | 'name'>): string => (name === id || name.startsWith('@') ? name : `#${name}`)

/** Returns the error for one of Slack's codes; undefined for a code that is not about the conversation itself. */
export function conversationFault(code: string, room: Channel, thread: string | undefined): Error | undefined {
  if (code === 'not_in_channel' || code === 'channel_not_found')
    return new ToolFailure(`The bot is not a member of ${nameOf(room)}. Someone has to invite it there: /invite @BOT`, {
      errorType: 'permission',
    })
  if (code === 'thread_not_found' || code === 'message_not_found') return noMessage(room, thread)
  return undefined
}

export const noMessage = (room: Channel, thread: string | undefined): ModelRetry =>
  new ModelRetry(`There is no message ${thread} in ${nameOf(room)}.`, {
    errorType: 'not_found',
    parameter: 'thread_ts',
    value: thread,
    constraint: 'the ts of a message, as in get_slack_channel_history',
  })
