/** Tools that list channels and people. */
import { defineTool, empty, ModelRetry, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { READ } from '../common/remote-read.ts'
import { inMarkdown, oneLine, plural } from '../common/text.ts'
import { nameOf } from './conversation.ts'
import type { Directory } from './directory.ts'

const MAX_CHANNELS = 200
const MAX_USERS = 200

const page = z.int().min(1).default(1).describe('page')

export function listSlackChannels(directory: Directory): Tool {
  return defineTool({
    ...READ,
    service: 'slack',
    name: 'list_slack_channels',
    description: 'Lists the Slack channels that the bot can see.',
    input: z.object({
      limit: z.int().min(1).max(MAX_CHANNELS).default(20).describe('rows'),
      types: z.enum(['public', 'private', 'all']).default('all'),
      page,
    }),
    aliases: ['slack_list_channels', 'get_slack_channels'],
    target: ({ types }) => types,
    examples: [
      { outcome: 'ok', input: { limit: 5 } },
      { outcome: 'retry', input: { page: 99 }, why: 'there are fewer pages' },
    ],
    execute: async ({ limit, types, page }, { signal }) => {
      const all = (await directory.channels(signal))
        .filter(({ isArchived, isPrivate }) => !isArchived && (types === 'all' || (types === 'private') === isPrivate))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return rows(
        all,
        { page, limit, one: 'channel', none: `The bot can see no ${types === 'all' ? '' : `${types} `}channel.` },
        (channel) => ({
          line: `${nameOf(channel)} ${channel.id}${channel.isPrivate ? ' private' : ''}${channel.isMember ? '' : ' (bot is not a member)'}${channel.topic && `: ${oneLine(channel.topic, 120)}`}`,
          shown: `**${inMarkdown(nameOf(channel))}**${channel.topic && `: ${inMarkdown(channel.topic, 120)}`}`,
          data: { id: channel.id, name: channel.name, isPrivate: channel.isPrivate, isMember: channel.isMember, topic: channel.topic },
        }),
      )
    },
  })
}

export function listSlackUsers(directory: Directory): Tool {
  return defineTool({
    ...READ,
    service: 'slack',
    name: 'list_slack_users',
    description: 'Lists the people in Slack.',
    input: z.object({ limit: z.int().min(1).max(MAX_USERS).default(30).describe('rows'), page }),
    aliases: ['slack_list_users', 'get_slack_users'],
    target: () => 'users',
    examples: [{ outcome: 'ok', input: { limit: 5 } }],
    execute: async ({ limit, page }, { signal }) => {
      const all = (await directory.people(signal))
        .filter(({ isDeleted, isBot }) => !isDeleted && !isBot)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return rows(
        all,
        { page, limit, one: 'person', many: 'people', none: 'There is nobody in Slack but bots.' },
        ({ id, name, realName, title }) => ({
          line: `@${name} ${id} ${oneLine(realName, 80)}${title && ` (${oneLine(title, 80)})`}`,
          shown: `**${inMarkdown(realName || name)}** @${inMarkdown(name)}${title && `: ${inMarkdown(title, 80)}`}`,
          data: { id, name, realName, title },
        }),
      )
    },
  })
}

interface Row {
  readonly line: string
  readonly shown: string
  readonly data: object
}

interface Listing {
  readonly page: number
  readonly limit: number
  readonly one: string
  readonly many?: string
  readonly none: string
}

function rows<T>(all: readonly T[], { page, limit, one, many, none }: Listing, toRow: (item: T) => Row): ToolOk {
  if (all.length === 0) return empty({ rows: [] }, none)
  const pages = Math.ceil(all.length / limit)
  if (page > pages)
    throw new ModelRetry(`There ${pages === 1 ? 'is only 1 page' : `are only ${pages} pages`} of ${limit}.`, {
      parameter: 'page',
      value: page,
      constraint: `a page from 1 to ${pages}`,
      suggestion: pages,
    })
  const shown = all.slice((page - 1) * limit, page * limit).map(toRow)
  const hasMore = page < pages
  const title = `${plural(all.length, one, many)}${pages > 1 ? `, page ${page} of ${pages}` : ''}`
  return ok(
    { rows: shown.map(({ data }) => data), total: all.length },
    {
      content: `${title}\n${shown.map(({ line }) => line).join('\n')}`,
      display: `**${title}**\n\n${shown.map((row) => `- ${row.shown}`).join('\n')}`,
      count: shown.length,
      page,
      hasMore,
    },
  )
}
