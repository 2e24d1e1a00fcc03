/** Names and ids of channels and people. Names are for people and models, ids for Slack. */
import { ModelRetry } from '@mulligan/core'
import { nearest } from '@mulligan/core/executor'
import type { CallSlack } from './client.ts'

export interface Channel {
  readonly id: string
  /** Without `#`. */
  readonly name: string
  readonly isPrivate: boolean
  readonly isMember: boolean
  readonly isArchived: boolean
  readonly members?: number
  readonly topic: string
}

export interface Person {
  readonly id: string
  /** The name that is mentioned with `@`. */
  readonly name: string
  readonly realName: string
  readonly title: string
  readonly isBot: boolean
  readonly isDeleted: boolean
}

export interface Directory {
  readonly channels: (signal: AbortSignal) => Promise<readonly Channel[]>
  readonly people: (signal: AbortSignal) => Promise<readonly Person[]>
  /** Finds a channel by `#name`, `name` or id. @throws ModelRetry with the nearest names */
  readonly channel: (signal: AbortSignal, given: string) => Promise<Channel>
  /** Finds a person by `@name`, name, real name or id. @throws ModelRetry with the nearest names */
  readonly person: (signal: AbortSignal, given: string, parameter: string) => Promise<Person>
  /** Replaces `<@U…>` and `<#C…>` by names, and Slack's entities by characters. */
  readonly readable: (signal: AbortSignal, text: string) => Promise<string>
}

/** Rows of one request, the most Slack recommends. */
const ROWS = 200
/** Requests for one directory: 10,000 rows. */
const MAX_REQUESTS = 50
/** Milliseconds for which a directory is not read again, unless a name is missing. */
const FRESH_MS = 300_000
const CHANNEL_ID = /^[CGD][A-Z0-9]{6,}$/

interface Cursors {
  readonly response_metadata?: { readonly next_cursor?: string }
}

export function slackDirectory(call: CallSlack): Directory {
  const channels = remembered((signal) =>
    call(signal, (client) =>
      every(
        (cursor) => client.conversations.list({ types: 'public_channel,private_channel', exclude_archived: false, limit: ROWS, ...cursor }),
        ({ channels = [] }) => channels.map(toChannel),
      ),
    ),
  )
  const people = remembered((signal) =>
    call(signal, (client) =>
      every(
        (cursor) => client.users.list({ limit: ROWS, ...cursor }),
        ({ members = [] }) => members.map(toPerson),
      ),
    ),
  )

  async function channel(signal: AbortSignal, given: string): Promise<Channel> {
    const wanted = given.trim().replace(/^#/, '')
    const find = (all: readonly Channel[]) => all.find(({ id, name }) => id === wanted || name === wanted.toLowerCase())
    const found = find(await channels.get(signal)) ?? find(await channels.again(signal))
    if (found) return found
    // Direct messages are not listed.
    if (CHANNEL_ID.test(wanted)) return { ...NO_CHANNEL, id: wanted, name: wanted }
    const names = (await channels.get(signal)).filter(({ isArchived }) => !isArchived).map(({ name }) => name)
    const close = nearest(wanted.toLowerCase(), names, 5)
    throw new ModelRetry(`There is no channel "${wanted}" that the bot can see. Provide the full name, as in list_slack_channels.`, {
      errorType: 'not_found',
      parameter: 'channel',
      value: given,
      constraint: 'the full name or the id of a channel',
      ...(close[0] !== undefined && { suggestion: `#${close[0]}` }),
      ...(close.length > 1 && { candidates: close.map((name) => `#${name}`) }),
    })
  }

  async function person(signal: AbortSignal, given: string, parameter: string): Promise<Person> {
    const wanted = given.trim().replace(/^@/, '')
    const is = (name: string): boolean => name.toLowerCase() === wanted.toLowerCase()
    const find = (all: readonly Person[]) =>
      all.filter(({ id, name, realName, isDeleted }) => !isDeleted && (id === wanted || is(name) || is(realName)))
    let found = find(await people.get(signal))
    if (found.length === 0) found = find(await people.again(signal))
    const [one, ...others] = found
    if (one && others.length === 0) return one
    const all = (await people.get(signal)).filter(({ isDeleted }) => !isDeleted)
    const close = one ? found.map(({ id }) => id) : [...new Set(nearestPeople(wanted, all).map(({ name }) => `@${name}`))]
    throw new ModelRetry(
      one
        ? `Several people are called "${wanted}": ${found.map(({ id, realName }) => `${realName} (${id})`).join(', ')}.`
        : `There is no person "${wanted}". Provide the full name, as in list_slack_users.`,
      {
        errorType: 'not_found',
        parameter,
        value: given,
        constraint: 'the full name or the id of a person',
        ...(close[0] !== undefined && { suggestion: close[0] }),
        ...(close.length > 1 && { candidates: close }),
      },
    )
  }

  async function readable(signal: AbortSignal, text: string): Promise<string> {
    const mentions = /<([@#])([A-Z0-9]+)(?:\|([^>]*))?>/g
    const users = /<@/.test(text) ? await people.get(signal) : []
    const rooms = /<#/.test(text) ? await channels.get(signal) : []
    return text
      .replace(mentions, (_, sign: string, id: string, label?: string) => {
        const all: readonly { readonly id: string; readonly name: string }[] = sign === '@' ? users : rooms
        return `${sign}${all.find((one) => one.id === id)?.name ?? (label || id)}`
      })
      .replace(/<!(here|channel|everyone)>/g, '@$1')
      .replace(/<((?:https?|mailto):[^|>]+)(?:\|([^>]*))?>/g, (_, url: string, label?: string) =>
        label && label !== url ? `${label} (${url})` : url.replace(/^mailto:/, ''),
      )
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&')
  }

  return { channels: channels.get, people: people.get, channel, person, readable }
}

/** Returns the people whose name, real name or part of it is near, at most 5. */
export function nearestPeople(wanted: string, people: readonly Person[]): readonly Person[] {
  const names = new Map<string, Person>()
  for (const one of people) for (const name of [one.name, one.realName, ...one.realName.split(/\s+/)]) if (name) names.set(name, one)
  return [...new Set(nearest(wanted, [...names.keys()], 5).flatMap((name) => names.get(name) ?? []))]
}

const NO_CHANNEL: Channel = { id: '', name: '', isPrivate: true, isMember: true, isArchived: false, topic: '' }

/** Reads a list to its end, page by page. */
async function every<Page extends Cursors, T>(
  read: (cursor: { readonly cursor?: string }) => Promise<Page>,
  rowsOf: (page: Page) => readonly T[],
): Promise<readonly T[]> {
  const rows: T[] = []
  let cursor: string | undefined
  for (let at = 0; at < MAX_REQUESTS; at++) {
    const page = await read(cursor ? { cursor } : {})
    rows.push(...rowsOf(page))
    cursor = page.response_metadata?.next_cursor
    if (!cursor) break
  }
  return rows
}

/** Keeps what was read for a while. A failure is not kept. */
function remembered<T>(read: (signal: AbortSignal) => Promise<T>) {
  let kept: { readonly value: T; readonly at: number } | undefined
  const again = async (signal: AbortSignal): Promise<T> => {
    const value = await read(signal)
    kept = { value, at: Date.now() }
    return value
  }
  const get = async (signal: AbortSignal): Promise<T> => (kept && Date.now() - kept.at < FRESH_MS ? kept.value : again(signal))
  return { get, again }
}

type Fields = object | undefined
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function toChannel(row: Fields): Channel {
  const { id, name, is_private, is_member, is_archived, num_members, topic, purpose } = (row ?? {}) as Readonly<Record<string, unknown>>
  const about = (field: unknown): string => textOf((field as { readonly value?: unknown } | undefined)?.value)
  return {
    id: textOf(id),
    name: textOf(name),
    isPrivate: is_private === true,
    isMember: is_member === true,
    isArchived: is_archived === true,
    ...(typeof num_members === 'number' && { members: num_members }),
    topic: about(topic) || about(purpose),
  }
}

function toPerson(row: Fields): Person {
  const { id, name, real_name, is_bot, deleted, profile = {} } = (row ?? {}) as Readonly<Record<string, unknown>>
  const { display_name, real_name: profileName, title } = profile as Readonly<Record<string, unknown>>
  return {
    id: textOf(id),
    name: textOf(display_name) || textOf(name),
    realName: textOf(real_name) || textOf(profileName),
    title: textOf(title),
    isBot: is_bot === true || id === 'USLACKBOT',
    isDeleted: deleted === true,
  }
}
