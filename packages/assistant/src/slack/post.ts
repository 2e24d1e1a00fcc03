/** Posts a message once. Slack has no idempotency key for posts, so each message carries a mark by which it is found again. */
import { defineTool, ModelRetry, ok, type Tool, type ToolContext, ToolFailure, type ToolOk } from '@mulligan/core'
import type { WebClient } from '@slack/web-api'
import { z } from 'zod'
import { createOnce, markOf } from '../common/once.ts'
import { asAdded, link } from '../common/text.ts'
import { type CallSlack, errorCode } from './client.ts'
import { conversationFault, nameOf, noMessage } from './conversation.ts'
import { type Channel, type Directory, nearestPeople } from './directory.ts'

/** The longest text that Slack takes: https://docs.slack.dev/reference/methods/chat.postMessage */
const MAX_TEXT = 40_000
const EVENT = 'mulligan_call'
/** Messages of a conversation that are searched for the mark. */
const SEARCHED = 100
/** Seconds before the search begins: clocks differ. */
const SKEW = 900

const input = z.object({
  channel: z.string().min(1).describe('#name or id; @name for a direct message'),
  text: z.string().min(1).max(MAX_TEXT).describe("Slack's mrkdwn; @name mentions a person"),
  thread_ts: z.string().optional().describe('ts of the message to answer'),
})
type Input = z.infer<typeof input>

interface Post {
  readonly room: Channel
  /** The text with mentions by id. */
  readonly text: string
  readonly thread: string | undefined
}

export function postSlackMessage(call: CallSlack, directory: Directory): Tool {
  const once = createOnce()
  return defineTool({
    name: 'post_slack_message',
    description: 'Posts a message to a Slack channel or person.',
    input,
    effect: 'external',
    // An attempt that may have been carried out is looked for before another one is made.
    idempotent: true,
    errors: 'class',
    service: 'slack',
    timeout: 90,
    aliases: ['send_slack_message', 'slack_post_message', 'slack_send_message'],
    parameterAliases: {
      channel: ['channel_id', 'channel_name', 'to'],
      text: ['message', 'content', 'body'],
      thread_ts: ['thread', 'thread_id'],
    },
    target: ({ channel }) => (/^[@#]/.test(channel.trim()) ? channel.trim() : `#${channel.trim()}`),
    preview: async (given) => {
      const { room, text, thread } = await resolved(given, AbortSignal.timeout(15_000))
      return asAdded(`Slack ${nameOf(room)} (${room.id})${thread === undefined ? '' : `, thread ${thread}`}`, text)
    },
    examples: [{ outcome: 'ok', input: { channel: '#general', text: 'The build is green.' } }],
    execute: async (given, ctx) => {
      const post = await resolved(given, ctx.signal)
      const ts = await once(ctx, {
        send: () => send(post, ctx),
        find: () => call(ctx.signal, (client) => find(client, post.room.id, post.thread, markOf(ctx))),
        unknown: 'It is not known whether the message was posted.',
      })
      return posted(post.room, ts, ctx.signal)
    },
  })

  async function resolved({ channel, text, thread_ts: thread }: Input, signal: AbortSignal): Promise<Post> {
    const room = channel.trim().startsWith('@') ? await direct(channel, signal) : await directory.channel(signal, channel)
    return { room, text: await addressed(text, signal), thread }
  }

  async function direct(name: string, signal: AbortSignal): Promise<Channel> {
    const person = await directory.person(signal, name, 'channel')
    const { channel } = await call(signal, (client) => client.conversations.open({ users: person.id }))
    return { id: channel?.id ?? '', name: `@${person.name}`, isPrivate: true, isMember: true, isArchived: false, topic: '' }
  }

  /** Turns `@name` into a mention. A name that is almost right is asked about, because it would reach nobody. */
  async function addressed(text: string, signal: AbortSignal): Promise<string> {
    const mentions = /(?<![\w@<./])@([\p{L}\d][\p{L}\d._-]*[\p{L}\d]|[\p{L}\d])/gu
    if (!mentions.test(text)) return text
    const people = (await directory.people(signal)).filter(({ isDeleted }) => !isDeleted)
    return text.replace(mentions, (whole, name: string) => {
      if (/^(?:here|channel|everyone)$/.test(name)) return `<!${name}>`
      const found = people.filter((one) => one.name.toLowerCase() === name.toLowerCase())
      if (found.length === 1) return `<@${found[0]?.id}>`
      const close = nearestPeople(name, people)
      if (close.length === 0 && found.length === 0) return whole
      throw new ModelRetry(`"${whole}" in the text is not the name of a person. Leave out the @ if nobody is meant.`, {
        errorType: 'not_found',
        parameter: 'text',
        value: text,
        constraint: '@ and the full name, as in list_slack_users',
        suggestion: text.replace(whole, found.length > 1 ? `<@${found[0]?.id}>` : `@${close[0]?.name}`),
        ...(close.length > 1 && { candidates: close.map((one) => `@${one.name}`) }),
      })
    })
  }

  async function send({ room, text, thread }: Post, ctx: ToolContext): Promise<string> {
    const { ts } = await call(ctx.signal, (client) =>
      client.chat.postMessage({
        channel: room.id,
        text,
        ...(thread !== undefined && { thread_ts: thread }),
        metadata: { event_type: EVENT, event_payload: { key: markOf(ctx) } },
      }),
    ).catch((error: unknown) => {
      throw refusal(error, room, thread)
    })
    return ts ?? ''
  }

  async function posted(room: Channel, ts: string, signal: AbortSignal): Promise<ToolOk> {
    const url = await call(signal, (client) => client.chat.getPermalink({ channel: room.id, message_ts: ts })).then(
      ({ permalink }) => permalink,
      () => undefined,
    )
    return ok(
      { channel: room.id, ts, ...(url !== undefined && { url }) },
      { content: `Posted to ${nameOf(room)}, ts ${ts}.`, display: `Posted to ${link(nameOf(room), url)}` },
    )
  }
}

/** Returns the ts of the message with the mark, if it is there. */
async function find(client: WebClient, channel: string, thread: string | undefined, mark: string): Promise<string | undefined> {
  const oldest = String(Math.floor(Date.now() / 1000) - SKEW)
  const asked = { channel, limit: SEARCHED, include_all_metadata: true }
  const { messages = [] } =
    thread === undefined
      ? await client.conversations.history({ ...asked, oldest })
      : await client.conversations.replies({ ...asked, ts: thread, oldest })
  return (messages as readonly Marked[]).find(({ metadata }) => metadata?.event_payload?.['key'] === mark)?.ts
}

interface Marked {
  readonly ts?: string
  readonly metadata?: { readonly event_payload?: Readonly<Record<string, unknown>> }
}

/** What Slack says about the channel, the thread or the text. */
function refusal(error: unknown, room: Channel, thread: string | undefined): unknown {
  const code = errorCode(error)
  const fault = conversationFault(code, room, thread)
  if (fault) return fault
  if (code === 'is_archived') return new ToolFailure(`${nameOf(room)} is archived.`)
  if (/^restricted_action/.test(code))
    return new ToolFailure(`Posting to ${nameOf(room)} is restricted (${code}).`, { errorType: 'permission' })
  if (code === 'msg_too_long')
    return new ModelRetry('The text is too long.', {
      errorType: 'too_large',
      parameter: 'text',
      constraint: `at most ${MAX_TEXT} characters`,
    })
  if (/thread/.test(code)) return noMessage(room, thread)
  return code === '' ? error : new ToolFailure(`Slack refused the message: ${code}.`)
}
