/** Slack's Web API as far as the assistant's tools use it, as strict as the original: tokens, scopes, arguments, cursors, memberships. */
import { type Service, type ServiceAnswer, type ServiceOptions, type ServiceRequest, startService } from './service.ts'

export interface SlackChannel {
  readonly id: string
  readonly name: string
  readonly isPrivate?: boolean
  readonly isArchived?: boolean
  /** Whether the bot is a member. Default true. */
  readonly isMember?: boolean
  readonly topic?: string
}

export interface SlackPerson {
  readonly id: string
  readonly name: string
  readonly realName?: string
  readonly isBot?: boolean
  readonly isDeleted?: boolean
}

export interface SlackMessage {
  readonly ts: string
  readonly channel: string
  readonly user: string
  readonly text: string
  readonly thread_ts?: string
  readonly metadata?: unknown
}

export interface StrictSlackOptions extends ServiceOptions {
  /** Default: `xoxb-test`. */
  readonly token?: string
  readonly channels?: readonly SlackChannel[]
  readonly people?: readonly SlackPerson[]
  readonly messages?: readonly SlackMessage[]
  /** The token's scopes. Default: all that the tools need. */
  readonly scopes?: readonly string[]
  /** Number of reads of a conversation that don't show a new message yet. Default 0. */
  readonly hiddenReads?: number
}

export interface StrictSlack extends Service {
  /** The address for clients, with `/api/`. */
  readonly api: string
  /** Everything that was posted, in order. */
  readonly posts: readonly SlackMessage[]
}

type Arguments = Readonly<Record<string, string>>
type Reply = Readonly<Record<string, unknown>>
interface Method {
  readonly scopes: readonly string[]
  readonly takes: readonly string[]
  readonly needs?: readonly string[]
  readonly run: (given: Arguments) => Reply
}

const BOT = 'UBOT0001'
const MAX_TEXT = 40_000
const fail = (error: string, more: Reply = {}): Reply => ({ ok: false, error, ...more })

/**
 * Starts a strict Slack.
 *
 * @example
 * await using slack = await strictSlack({ channels: [{ id: 'C0000001', name: 'general' }] })
 */
export async function strictSlack(options: StrictSlackOptions = {}): Promise<StrictSlack> {
  const { token = 'xoxb-test', channels = [], people = [], messages = [], hiddenReads = 0 } = options
  const scopes = options.scopes ?? [
    'channels:read',
    'groups:read',
    'channels:history',
    'groups:history',
    'users:read',
    'chat:write',
    'im:write',
  ]
  const posts: SlackMessage[] = []
  /** Reads that a post stays hidden for. */
  const hidden = new Map<string, number>()
  const rooms: SlackChannel[] = [...channels]
  let clock = 1_790_000_000

  const all = (): readonly SlackMessage[] => [...messages, ...posts].toSorted((a, b) => Number(a.ts) - Number(b.ts))
  const room = (id: string | undefined): SlackChannel | undefined => rooms.find((one) => one.id === id)

  function visible(channel: string): readonly SlackMessage[] {
    return all().filter(({ ts, channel: at }) => {
      if (at !== channel) return false
      const left = hidden.get(ts) ?? 0
      hidden.set(ts, left - 1)
      return left <= 0
    })
  }

  function conversation(given: Arguments, of: (message: SlackMessage) => boolean): Reply {
    const channel = room(given['channel'])
    if (!channel) return fail('channel_not_found')
    if (channel.isMember === false) return fail('not_in_channel')
    const found = visible(channel.id)
      .filter(of)
      .filter(({ ts }) => given['oldest'] === undefined || Number(ts) > Number(given['oldest']))
    const shown = found.map(({ channel: _, metadata, ...message }) => ({
      type: 'message',
      ...message,
      ...(given['include_all_metadata'] === 'true' && metadata !== undefined && { metadata }),
    }))
    return page(given['ts'] ? shown : shown.toReversed(), given, 'messages')
  }

  const METHODS: Readonly<Record<string, Method>> = {
    'auth.test': { scopes: [], takes: [], run: () => ({ ok: true, user: 'mulligan', user_id: BOT, team: 'Test' }) },
    'conversations.list': {
      scopes: ['channels:read'],
      takes: ['types', 'exclude_archived', 'limit', 'cursor'],
      run: (given) => {
        const types = (given['types'] ?? 'public_channel').split(',')
        if (types.includes('private_channel') && !scopes.includes('groups:read')) return fail('missing_scope', { needed: 'groups:read' })
        const rows = rooms
          .filter(({ id }) => id.startsWith('C'))
          .filter(({ isPrivate }) => types.includes(isPrivate ? 'private_channel' : 'public_channel'))
          .filter(({ isArchived }) => !(isArchived && given['exclude_archived'] === 'true'))
        return page(rows.map(channelRow), given, 'channels')
      },
    },
    'users.list': {
      scopes: ['users:read'],
      takes: ['limit', 'cursor'],
      run: (given) => page(people.map(personRow), given, 'members'),
    },
    'conversations.history': {
      scopes: ['channels:history'],
      takes: ['channel', 'limit', 'cursor', 'oldest', 'latest', 'inclusive', 'include_all_metadata'],
      needs: ['channel'],
      run: (given) => conversation(given, ({ ts, thread_ts }) => thread_ts === undefined || thread_ts === ts),
    },
    'conversations.replies': {
      scopes: ['channels:history'],
      takes: ['channel', 'ts', 'limit', 'cursor', 'oldest', 'latest', 'inclusive', 'include_all_metadata'],
      needs: ['channel', 'ts'],
      run: (given) => {
        if (room(given['channel']) && !all().some(({ ts, channel }) => ts === given['ts'] && channel === given['channel']))
          return fail('thread_not_found')
        return conversation(given, ({ ts, thread_ts }) => ts === given['ts'] || thread_ts === given['ts'])
      },
    },
    'conversations.open': {
      scopes: ['im:write'],
      takes: ['users'],
      needs: ['users'],
      run: ({ users = '' }) => {
        if (!people.some(({ id }) => id === users)) return fail('user_not_found')
        const id = `D${users.slice(1)}`
        if (!room(id)) rooms.push({ id, name: users, isPrivate: true })
        return { ok: true, channel: { id } }
      },
    },
    'chat.postMessage': {
      scopes: ['chat:write'],
      takes: ['channel', 'text', 'thread_ts', 'metadata'],
      needs: ['channel'],
      run: ({ channel: id, text = '', thread_ts, metadata }) => {
        const channel = room(id)
        if (!channel) return fail('channel_not_found')
        if (channel.isMember === false) return fail('not_in_channel')
        if (channel.isArchived) return fail('is_archived')
        if (text === '') return fail('no_text')
        if (text.length > MAX_TEXT) return fail('msg_too_long')
        if (thread_ts !== undefined && !all().some(({ ts }) => ts === thread_ts)) return fail('thread_not_found')
        clock++
        const ts = `${Math.max(clock, Math.floor(Date.now() / 1000))}.${String(posts.length + 1).padStart(6, '0')}`
        const message = {
          ...{ ts, channel: channel.id, user: BOT, text },
          ...(thread_ts !== undefined && { thread_ts }),
          ...(metadata !== undefined && { metadata: JSON.parse(metadata) }),
        }
        posts.push(message)
        hidden.set(ts, hiddenReads)
        return { ok: true, channel: channel.id, ts, message: { type: 'message', ...message } }
      },
    },
    'chat.getPermalink': {
      scopes: [],
      takes: ['channel', 'message_ts'],
      needs: ['channel', 'message_ts'],
      run: ({ channel, message_ts }) =>
        all().some(({ ts }) => ts === message_ts)
          ? { ok: true, permalink: `https://test.slack.com/archives/${channel}/p${message_ts?.replace('.', '')}` }
          : fail('message_not_found'),
    },
  }

  function handle({ method, path, headers, body }: ServiceRequest): ServiceAnswer {
    const [, name = ''] = /^\/api\/([\w.]+)$/.exec(path) ?? []
    const given: Arguments = Object.fromEntries(new URLSearchParams(body))
    const wanted = METHODS[name]
    if (method !== 'POST') return { status: 405, body: 'method not allowed' }
    if (!wanted) return { body: fail('unknown_method', { req_method: name }) }
    if (!String(headers['content-type']).startsWith('application/x-www-form-urlencoded')) return { body: fail('invalid_post_type') }
    if (headers.authorization === undefined) return { body: fail('not_authed') }
    if (headers.authorization !== `Bearer ${token}`) return { body: fail('invalid_auth') }
    const lacking = wanted.scopes.find((scope) => !scopes.includes(scope))
    if (lacking !== undefined) return { body: fail('missing_scope', { needed: lacking, provided: scopes.join(',') }) }
    const unknown = Object.keys(given).filter((key) => !wanted.takes.includes(key))
    const missing = (wanted.needs ?? []).filter((key) => !given[key])
    if (unknown.length > 0 || missing.length > 0) return { body: fail('invalid_arguments', { unknown, missing }) }
    return { body: wanted.run(given) }
  }

  const service = await startService(handle, options)
  return { ...service, api: `${service.url}/api/`, posts }
}

/** A page of rows with Slack's cursors. */
function page(rows: readonly object[], { limit = '100', cursor }: Arguments, field: string): Reply {
  const size = Number(limit)
  if (!Number.isInteger(size) || size < 1 || size > 1000) return fail('invalid_limit')
  const from = cursor === undefined ? 0 : Number(/^next:(\d+)$/.exec(atob(cursor))?.[1] ?? Number.NaN)
  if (Number.isNaN(from)) return fail('invalid_cursor')
  const next = from + size < rows.length ? btoa(`next:${from + size}`) : ''
  return { ok: true, [field]: rows.slice(from, from + size), has_more: next !== '', response_metadata: { next_cursor: next } }
}

const channelRow = ({ id, name, isPrivate = false, isArchived = false, isMember = true, topic = '' }: SlackChannel): object => ({
  ...{ id, name, is_channel: true, is_private: isPrivate, is_archived: isArchived, is_member: isMember },
  topic: { value: topic },
  purpose: { value: '' },
})

const personRow = ({ id, name, realName = name, isBot = false, isDeleted = false }: SlackPerson): object => ({
  ...{ id, name, real_name: realName, is_bot: isBot, deleted: isDeleted },
  profile: { display_name: name, real_name: realName, title: '' },
})
