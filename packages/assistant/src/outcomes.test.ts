/** What a model reads of each tool of Google and Slack in each of the five outcomes, over HTTP. Those of notes are in notes.test.ts. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ServiceFault, strictGoogle, strictSlack } from '@mulligan/testing'
import { OAuth2Client } from 'google-auth-library'
import { describe, expect, it } from 'vitest'
import { caller, statusOf } from './call.fixture.ts'
import { googleTools } from './google/index.ts'
import { imapTools } from './mail/imap/index.ts'
import { notesTools } from './notes/index.ts'
import { slackTools } from './slack/index.ts'

/** Inputs by outcome. What reads one thing, or writes, can't find nothing. */
interface Inputs {
  readonly found: object
  readonly nothing?: object
  readonly wrong: object
}

const MAIL = { to: ['ana@example.com'], subject: 'Decisions', body: 'Ship it.' }

const GOOGLE: Readonly<Record<string, Inputs>> = {
  search_drive: { found: { query: 'plan' }, nothing: { query: 'zebra' }, wrong: { query: 'plan', page: 3 } },
  read_drive_file: { found: { file_id: 'doc-0000000001' }, wrong: { file_id: 'doc-0000000009' } },
  list_emails: { found: {}, nothing: {}, wrong: { page: 3 } },
  search_emails: { found: { query: 'hello' }, nothing: { query: 'zebra' }, wrong: { query: '' } },
  read_email: { found: { id: '1a01' }, wrong: { id: '1aff' } },
  draft_email: { found: MAIL, wrong: { ...MAIL, to: ['Ana'] } },
  send_draft: { found: { id: 'DRAFT' }, wrong: { id: 'r404' } },
  list_calendar_events: { found: {}, nothing: {}, wrong: { days_ahead: -1 } },
  search_calendar_events: { found: { query: 'lunch' }, nothing: { query: 'zebra' }, wrong: { query: 'lunch', days_back: -1 } },
  create_calendar_event: { found: { title: 'Lunch', start: '2027-03-01T12:00' }, wrong: { title: 'Lunch', start: 'tomorrow' } },
}

const SLACK: Readonly<Record<string, Inputs>> = {
  list_slack_channels: { found: {}, nothing: {}, wrong: { page: 3 } },
  get_slack_channel_history: { found: { channel: '#team' }, nothing: { channel: '#quiet' }, wrong: { channel: '#taem' } },
  get_slack_thread_replies: {
    found: { channel: '#team', thread_ts: '1789000000.000100' },
    wrong: { channel: '#team', thread_ts: '1789000000.000999' },
  },
  list_slack_users: { found: {}, nothing: {}, wrong: { page: 3 } },
  post_slack_message: { found: { channel: '#team', text: 'Hi' }, wrong: { channel: '#taem', text: 'Hi' } },
}

const DOWN: ServiceFault = { kind: 'answer', status: 503, body: 'down' }

/** @param isEmpty whether the service has nothing. @param isDown whether it answers nothing but 503 */
async function google({ isEmpty = false, isDown = false } = {}) {
  const at = (hour: string): string => new Date(`${new Date(Date.now() + 3_600_000).toISOString().slice(0, 13)}:${hour}:00Z`).toISOString()
  let isFaulty = false
  const service = await strictGoogle({
    token: 'ya29.kanarie',
    fault: () => (isFaulty ? DOWN : undefined),
    ...(!isEmpty && {
      files: [{ id: 'doc-0000000001', name: 'Plan', mimeType: 'application/vnd.google-apps.document', text: '# Plan' }],
      messages: [
        { id: '1a01', threadId: '1a01', labelIds: ['INBOX'], at: 0, headers: { From: 'ana@example.com', Subject: 'Hello' }, text: 'Hi.' },
      ],
      events: [{ id: 'ev1', summary: 'Lunch', start: { dateTime: at('00') }, end: { dateTime: at('30') } }],
    }),
  })
  const client = new OAuth2Client()
  client.setCredentials({ access_token: 'ya29.kanarie' })
  const tools = googleTools({ auth: async () => client as never, rootUrl: `${service.url}/` })
  if (!isEmpty) await caller(tools)('draft_email', MAIL)
  isFaulty = isDown
  return { tools, close: service.close, id: service.drafts()[0]?.id }
}

async function slack({ isEmpty = false, isDown = false } = {}) {
  const service = await strictSlack({
    token: 'xoxb-kanarie',
    fault: () => (isDown ? DOWN : undefined),
    ...(!isEmpty && {
      channels: [
        { id: 'C0000001', name: 'team' },
        { id: 'C0000002', name: 'quiet' },
      ],
      people: [{ id: 'U0000001', name: 'ana', realName: 'Ana Silva' }],
      messages: [
        { ts: '1789000000.000100', channel: 'C0000001', user: 'U0000001', text: 'Lunch?' },
        { ts: '1789000200.000100', channel: 'C0000001', user: 'U0000001', text: 'Now.', thread_ts: '1789000000.000100' },
      ],
    }),
  })
  return { tools: slackTools({ token: 'xoxb-kanarie', url: service.api }), close: service.close, id: undefined }
}

/** Times and ids are replaced. */
const steady = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\d(?: \d\d:\d\d(?:–\d\d:\d\d)?)?/g, 'TIME')
    .replace(/\br?1a\d{14}\b/g, 'ID')
    .replace(/\b[0-9a-f]{32}\b/g, 'ID')
    .replace(/ts \d+\.\d+/g, 'ts TS')

/** Commands that exist, as the manual lists them. */
const COMMANDS = [
  ...readFileSync(fileURLToPath(new URL('../../../docs/cli.md', import.meta.url)), 'utf8').matchAll(/^## `mulligan ([a-z ]+)`/gm),
].map(([, name]) => String(name))

describe('the five outcomes', () => {
  it.each([
    ...Object.entries(GOOGLE).map((row) => [...row, google, googleTools()] as const),
    ...Object.entries(SLACK).map((row) => [...row, slack, slackTools({})] as const),
  ])('%s', async (name, { found, nothing, wrong }, world, unset) => {
    /** A world of its own for each, because what follows a read asks. */
    async function said(
      input: object,
      state: { isEmpty?: boolean; isDown?: boolean } = {},
    ): Promise<readonly [status: string, text: string]> {
      const { tools, close, id } = await world(state)
      const given = JSON.parse(JSON.stringify(input).replace('DRAFT', String(id))) as object
      const called = await caller(tools)(name, given)
      await close()
      return [statusOf(called), steady(called.text)]
    }
    const notSetUp = await caller(unset)(name, found)
    const texts = {
      found: await said(found),
      ...(nothing && { 'nothing found': await said(nothing, { isEmpty: JSON.stringify(nothing) === '{}' }) }),
      'asked wrongly': await said(wrong),
      faulty: await said(found, { isDown: true }),
      'not set up': [statusOf(notSetUp), notSetUp.text] as const,
    }
    expect(Object.fromEntries(Object.entries(texts).map(([outcome, [status]]) => [outcome, status]))).toEqual({
      found: 'ok',
      ...(nothing && { 'nothing found': 'ok' }),
      'asked wrongly': 'retry',
      faulty: expect.stringMatching(/^(?:unavailable|indeterminate)$/),
      'not set up': 'failed',
    })
    expect(Object.fromEntries(Object.entries(texts).map(([outcome, [, text]]) => [outcome, text]))).toMatchSnapshot()
    for (const [, text] of Object.values(texts))
      for (const [, command] of text.matchAll(/mulligan ([a-z]+ [a-z]+)/g)) expect(COMMANDS).toContain(command)
  })
})

it('every tool has its five outcomes in a snapshot', () => {
  const { tools, close } = notesTools({ vault: undefined, indexes: '' })
  close()
  const names = [...googleTools(), ...imapTools(), ...slackTools({}), ...tools].map(({ name }) => name)
  const kept = ['__snapshots__/outcomes.test.ts.snap', 'notes/__snapshots__/notes.test.ts.snap'].map((file) =>
    readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8'),
  )
  const covered = kept.flatMap((text) => [...text.matchAll(/^exports\[`the five outcomes > (\w+) 1`\]/gm)].map(([, name]) => name))
  expect([...new Set(names)].filter((name) => !covered.includes(name))).toEqual([])
})
