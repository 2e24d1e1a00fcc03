import { type GoogleMessage, type ServiceFault, type StrictGoogle, type StrictGoogleOptions, strictGoogle } from '@mulligan/testing'
import fc from 'fast-check'
import { OAuth2Client } from 'google-auth-library'
import { afterEach, describe, expect, it } from 'vitest'
import { samples } from '../../../../scripts/test-scope.fixture.ts'
import { caller, statusOf } from '../call.fixture.ts'
import { memoryValues, type SessionValues } from '../common/pages.ts'
import { spanOf, toEvent } from './calendar.ts'
import { quoted } from './drive.ts'
import { googleTools } from './index.ts'

const TOKEN = 'ya29.kanarie-4711'
const DAY = 86_400_000
const at = (days: number, time = '10:00'): string => `${new Date(Date.now() + days * DAY).toISOString().slice(0, 10)}T${time}:00Z`

const mail = (id: string, subject: string, more: Partial<GoogleMessage> = {}): GoogleMessage => ({
  ...{ id, threadId: id, labelIds: ['INBOX', 'UNREAD'], at: 1_790_000_000_000 },
  headers: { From: 'Ana Silva <ana@example.com>', To: 'me@example.com', Subject: subject, 'Message-ID': `<${id}@example.com>` },
  text: `Text of ${subject}`,
  ...more,
})

const WORLD: StrictGoogleOptions = {
  token: TOKEN,
  files: [
    { id: 'doc-0000000001', name: "Friday's planning", mimeType: 'application/vnd.google-apps.document', text: '# Decisions\n\nShip it.' },
    { id: 'pic-0000000001', name: 'planning.png', mimeType: 'image/png' },
    { id: 'csv-0000000001', name: 'planning.csv', mimeType: 'text/csv', text: 'a,b' },
  ],
  messages: [
    mail('1a01', 'Hello', { attachments: [{ name: 'plan.pdf', type: 'application/pdf', bytes: 4711 }] }),
    mail('1a02', 'Only HTML', {
      text: undefined as never,
      html: '<style>p{}</style><p>One&nbsp;two</p><script>alert(1)</script><a href="https://example.com">here</a>',
    }),
  ],
  events: [
    {
      id: 'ev1',
      summary: 'Stand-up',
      start: { dateTime: at(0, '23:00') },
      end: { dateTime: at(0, '23:30') },
      recurringEventId: 'r1',
      htmlLink: 'https://calendar.google.com/ev1',
    },
    {
      id: 'ev2',
      summary: 'Planning',
      start: { dateTime: at(3) },
      end: { dateTime: at(3, '11:00') },
      location: 'Room 1',
      attendees: [{ email: 'ana@example.com' }],
    },
  ],
}

const open: StrictGoogle[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const authWith = (token: string) => async () => {
  const client = new OAuth2Client()
  client.setCredentials({ access_token: token })
  return client as never
}

async function world(more: StrictGoogleOptions = {}, { token = TOKEN, values = memoryValues() as SessionValues } = {}) {
  const google = await strictGoogle({ ...WORLD, ...more })
  open.push(google)
  const tools = googleTools({ auth: authWith(token), rootUrl: `${google.url}/` }, values)
  return { google, tools, call: caller(tools) }
}

/** Days and ids are replaced. */
const steady = (text: string): string => text.replace(/\d{4}-\d\d-\d\d/g, 'DAY').replace(/\br?1a\d{14}\b/g, 'ID')

const READS = {
  search_drive: { query: 'planning' },
  read_drive_file: { file_id: 'doc-0000000001' },
  list_emails: {},
  search_emails: { query: 'hello' },
  read_email: { id: '1a01' },
  list_calendar_events: {},
  search_calendar_events: { query: 'planning' },
}
const WRITES = {
  draft_email: { to: 'Ana <ana@example.com>, ben@example.com', subject: 'Decisions – Freitag', body: 'Ship it.\nGrüße' },
  create_calendar_event: { title: 'Lunch', start: '2027-03-01T12:00', attendees: ['ana@example.com'] },
}
const ALL = { ...READS, ...WRITES, send_draft: { id: 'r1' } }

describe('found', () => {
  it.each(Object.entries(READS))('%s', async (name, input) => {
    const { call } = await world()
    const called = await call(name, input)
    expect(statusOf(called)).toBe('ok')
    expect(steady(called.text)).toMatchSnapshot()
  })

  it('a message with HTML alone is read as text', async () => {
    const { call } = await world()
    const { text } = await call('read_email', { id: '1a02' })
    expect(text).toContain('One two')
    expect(text).not.toMatch(/alert|p\{\}/)
  })

  it('a draft is saved as it was given, found as an answer in its conversation, and sent', async () => {
    const { call, google } = await world()
    const draft = await call('draft_email', { ...WRITES.draft_email, reply_to_id: '1a01' })
    const [saved] = google.drafts()
    expect(saved?.message).toMatchObject({ threadId: '1a01', text: expect.stringMatching(/^Ship it\.\r?\nGrüße/) })
    expect(saved?.message.headers).toMatchObject({ To: 'Ana <ana@example.com>, ben@example.com', 'In-Reply-To': '<1a01@example.com>' })
    expect(steady(draft.text)).toMatchSnapshot()
    const sent = await call('send_draft', { id: saved?.id })
    expect(sent.text).toMatchSnapshot()
    expect([google.sent.length, google.drafts().length]).toEqual([1, 0])
  })

  it('an event gets the calendar’s zone, and its guests are invited', async () => {
    const { call, google } = await world()
    const { text } = await call('create_calendar_event', WRITES.create_calendar_event)
    expect(google.created).toMatchObject([
      { summary: 'Lunch', start: { dateTime: '2027-03-01T12:00:00', timeZone: 'Europe/Lisbon' }, end: { dateTime: '2027-03-01T13:00:00' } },
    ])
    expect(google.requests.find(({ method }) => method === 'POST')?.query.get('sendUpdates')).toBe('all')
    expect(text).toMatch(/^Created: 2027-03-01 12:00–13:00 Lunch, 1 guest invited/)
  })
})

describe('nothing found', () => {
  it.each<[string, object]>([
    ['search_drive', { query: 'no such words' }],
    ['search_emails', { query: 'no such words' }],
    ['search_calendar_events', { query: 'no such words' }],
    ['list_emails', {}],
    ['list_calendar_events', {}],
  ])('%s %j', async (name, input) => {
    const { call } = await world(name.startsWith('list') ? { messages: [], events: [] } : {})
    const called = await call(name, input)
    expect(called.record.result).toMatchObject({ ok: true, count: 0 })
    expect(steady(called.text)).toMatchSnapshot()
  })
})

describe('asked wrongly', () => {
  it.each<[string, object]>([
    ['search_drive', { query: 'planning', page: 2 }],
    ['read_drive_file', { file_id: 'no-such-file' }],
    ['read_email', { id: '1aff' }],
    ['read_email', { id: 'the one of Ana' }],
    ['draft_email', { to: 'Ana', subject: 'x', body: 'y' }],
    ['draft_email', { to: 'ana@example.com', subject: 'x', body: 'y', reply_to_id: '1aff' }],
    ['send_draft', { id: 'r404' }],
    ['list_calendar_events', { days_ahead: -1 }],
    ['create_calendar_event', { title: 'Lunch', start: 'tomorrow' }],
    ['create_calendar_event', { title: 'Lunch', start: '2027-03-01T12:00', end: '2027-03-01T11:00' }],
    ['create_calendar_event', { title: 'Lunch', start: '2027-03-01T12:00', time_zone: 'Lisbon time' }],
    ['create_calendar_event', { title: 'Lunch', start: '2027-03-01T12:00', attendees: ['ana'] }],
  ])('%s %j', async (name, input) => {
    const { call, google } = await world()
    const called = await call(name, input)
    expect(statusOf(called)).toBe('retry')
    expect(steady(called.text)).toMatchSnapshot()
    expect([google.drafts(), google.created]).toEqual([[], []])
  })

  it('a draft’s wrong id names those that there are', async () => {
    const { call, google } = await world()
    await call('draft_email', WRITES.draft_email)
    const { text } = await call('send_draft', { id: 'nope' })
    expect(text).toContain(google.drafts()[0]?.id)
    expect(google.sent).toEqual([])
  })

  it('a file without text says what it is and where it can be opened', async () => {
    const { call } = await world()
    const called = await call('read_drive_file', { file_id: 'https://drive.google.com/file/d/pic-0000000001/view' })
    expect([statusOf(called), called.text]).toEqual(['failed', expect.stringMatching(/image\/png[\s\S]*docs\.google\.com/)])
  })
})

const answer = (status: number, reason: string, message = reason, headers = {}): ServiceFault => ({
  kind: 'answer',
  status,
  headers,
  body: { error: { code: status, message, errors: [{ reason, message }] } },
})

describe('the service is faulty', () => {
  it.each(Object.entries(READS))('%s', async (name, input) => {
    const { call } = await world({ fault: () => answer(503, 'backendError') })
    const called = await call(name, input)
    expect(called.record.attempts).toBeGreaterThan(1)
    expect(called.text).toMatchSnapshot()
  })

  it.each([
    [answer(429, 'rateLimitExceeded', 'x', { 'retry-after': '3' })],
    [answer(403, 'userRateLimitExceeded')],
    [answer(500, 'backendError')],
  ])('%j is waited for', async (fault) => {
    let failed = 0
    const { call } = await world({ fault: () => (failed++ < 2 ? fault : undefined) })
    expect(statusOf(await call('list_emails', {}))).toBe('ok')
  })

  it('it cannot be reached', async () => {
    const { call, google } = await world()
    await google.close()
    expect((await call('draft_email', WRITES.draft_email)).text).toMatchSnapshot()
  })
})

describe('not set up', () => {
  it.each(Object.entries(ALL))('%s', async (name, input) => {
    const called = await caller(googleTools())(name, input)
    expect(called.record.result).toMatchObject({ ok: false, status: 'failed', errorType: 'config' })
    expect(called.text).toMatch(/mulligan auth google/)
  })

  it.each<[string, ServiceFault | undefined]>([
    ['a revoked login', undefined],
    [
      'an API that is not enabled',
      answer(403, 'accessNotConfigured', 'Enable it by visiting https://console.developers.google.com/apis/api/drive then retry.'),
    ],
    ['a consent that does not cover it', answer(403, 'insufficientPermissions')],
  ])('%s', async (_, fault) => {
    const { call } = await world({ fault: () => fault }, { token: fault ? TOKEN : 'ya29.revoked' })
    const called = await call('search_drive', { query: 'x' })
    expect(called.record.result).toMatchObject({ status: 'failed', errorType: 'config' })
    expect(called.record.attempts).toBe(1)
    expect(called.text).toMatchSnapshot()
    expect(JSON.stringify(called)).not.toMatch(/ya29/)
  })
})

it('page 2 of Drive works after a restart', async () => {
  const files = Array.from({ length: 12 }, (_, n) => ({ id: `file-${n}`, name: `plan ${n}`, mimeType: 'text/plain' }))
  const values = memoryValues()
  const { call, google } = await world({ files }, { values })
  expect((await call('search_drive', { query: 'plan' })).text).toMatch(/has_more=true, next: page=2$/)
  const restarted = caller(googleTools({ auth: authWith(TOKEN), rootUrl: `${google.url}/` }, values))
  expect((await restarted('search_drive', { query: 'plan', page: 2 })).text).toMatch(/^2 files\nplan 10 [\s\S]*plan 11/)
})

it('a write that was refused is made again', async () => {
  let refusals = 0
  const { call, google } = await world({
    fault: ({ method }) => (method === 'POST' && refusals++ < 2 ? answer(429, 'rateLimitExceeded') : undefined),
  })
  expect([statusOf(await call('draft_email', WRITES.draft_email)), google.drafts().length]).toEqual(['ok', 1])
})

it.each(Object.entries(READS))('after %s, what leaves asks', async (name, input) => {
  const { call, google } = await world()
  await call(name, input)
  await expect(call('draft_email', WRITES.draft_email)).rejects.toThrow('nobody can be asked')
  expect(google.drafts()).toEqual([])
})

it('page 2 of Gmail works after a restart', async () => {
  const values = memoryValues()
  const { call, google } = await world({}, { values })
  expect((await call('list_emails', { max_results: 1 })).text).toMatch(/has_more=true, next: page=2$/)
  const restarted = caller(googleTools({ auth: authWith(TOKEN), rootUrl: `${google.url}/` }, values))
  expect((await restarted('list_emails', { max_results: 1, page: 2 })).text).toMatch(/^1 message [\s\S]*has_more=false$/)
})

it('any words can be searched for', async () => {
  await fc.assert(
    fc.property(fc.string(), (text) => {
      const inner = quoted(text).slice(1, -1)
      expect(inner.replace(/\\(.)/gs, '$1')).toBe(text)
      expect(inner.replace(/\\./gs, '')).not.toContain("'")
    }),
  )
})

describe('dates', () => {
  it.each([
    [{ start: { date: '2026-11-24' }, end: { date: '2026-11-25' } }, '2026-11-24 (all day)'],
    [{ start: { date: '2026-11-24' }, end: { date: '2026-11-27' } }, '2026-11-24 to 2026-11-26 (all day)'],
    [{ start: { dateTime: '2026-11-24T10:00:00+01:00' }, end: { dateTime: '2026-11-24T11:00:00+01:00' } }, '2026-11-24 10:00–11:00'],
    [{ start: { dateTime: '2026-11-24T23:00:00Z' }, end: { dateTime: '2026-11-25T01:00:00Z' } }, '2026-11-24 23:00 – 2026-11-25 01:00'],
  ])('%j is shown as %s', (event, when) => expect(toEvent(event).when).toBe(when))

  it.each([
    [{ start: '2026-11-24' }, { start: '2026-11-24', end: '2026-11-25' }],
    [
      { start: '2026-11-24', end: '2026-11-26' },
      { start: '2026-11-24', end: '2026-11-27' },
    ],
    [{ start: '2026-11-24 23:30' }, { start: '2026-11-24T23:30:00', end: '2026-11-25T00:30:00' }],
    [{ start: '2026-11-24T10:00+01:00' }, { start: '2026-11-24T10:00:00+01:00', end: '2026-11-24T11:00:00+01:00' }],
  ])('%j becomes %j', (given, span) => expect(spanOf(given)).toEqual(span))
})

it('a draft that was changed after it was shown is not sent', async () => {
  const { call, google, tools } = await world()
  await call('draft_email', WRITES.draft_email)
  const [draft] = google.drafts()
  const send = tools.find(({ name }) => name === 'send_draft')
  expect(await send?.preview?.({ id: draft?.id } as never)).toContain('+Subject: Decisions – Freitag')
  const [, edited] = [draft, { ...draft?.message, id: '1affff' }]
  Object.assign(draft?.message ?? {}, edited)
  const refused = await call('send_draft', { id: draft?.id })
  expect([statusOf(refused), refused.text, google.sent]).toEqual(['failed', expect.stringContaining('changed after it was shown'), []])
  expect(statusOf(await call('send_draft', { id: draft?.id }))).toBe('ok')
})

const KINDS = ['reset before', 'reset after', '429', '429 with a time', '500', 'expired', 'none'] as const
const troubles = fc.record({
  // Seldom, because each is waited for.
  writes: fc.array(
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom<string>(...KINDS) }, { weight: 1, arbitrary: fc.constant('silent') }),
    { maxLength: 4 },
  ),
  reads: fc.array(fc.constantFrom('reset before', '500', 'none'), { maxLength: 3 }),
  hiddenReads: fc.nat({ max: 2 }),
  restarts: fc.nat({ max: 2 }),
  tool: fc.constantFrom('draft_email', 'send_draft', 'create_calendar_event'),
})
type Trouble = typeof troubles extends fc.Arbitrary<infer T> ? T : never

const faultOf = (kind: string | undefined): ServiceFault | undefined => {
  if (kind === '429') return answer(429, 'rateLimitExceeded')
  if (kind === '429 with a time') return answer(429, 'rateLimitExceeded', 'x', { 'retry-after': '2' })
  if (kind === 'expired') return answer(401, 'authError')
  if (kind === 'silent') return { kind }
  if (kind === '500') return answer(500, 'backendError')
  return kind === 'reset before' || kind === 'reset after' ? { kind } : undefined
}

/** Seconds for a call that is not answered. */
const DEADLINE = 0.4

/** A login whose access tokens can be refreshed. */
const refreshing =
  ({ url, issuer }: StrictGoogle) =>
  async () => {
    const { clientId, clientSecret, refreshToken } = issuer.login()
    const endpoints = { oauth2TokenUrl: `${url}/token` }
    const client = new OAuth2Client({ clientId, clientSecret, endpoints, forceRefreshOnFailure: true })
    client.setCredentials({ refresh_token: refreshToken })
    return client as never
  }

/** Runs one write under these troubles. @param careful false: as if nothing had been sent before */
async function written({ writes, reads, hiddenReads, restarts, tool }: Trouble, careful: boolean) {
  const left = { writes: [...writes], reads: [...reads] }
  let isReady = false
  const google = await strictGoogle({
    ...WORLD,
    hiddenReads,
    fault: ({ method, path }) =>
      isReady && path !== '/token' ? faultOf(method === 'POST' ? left.writes.shift() : left.reads.shift()) : undefined,
  })
  const values = memoryValues()
  const fresh = () =>
    googleTools({ auth: refreshing(google), rootUrl: `${google.url}/` }, values).map((one) =>
      careful
        ? { ...one, ...(writes.includes('silent') && { timeout: DEADLINE }) }
        : {
            ...one,
            execute: ((input: never, ctx) =>
              one.execute(input, { ...ctx, attempt: 1, idempotencyKey: `${ctx.idempotencyKey} ${Math.random()}` })) as typeof one.execute,
          },
    )
  if (tool === 'send_draft') await caller(fresh())('draft_email', WRITES.draft_email)
  const input = tool === 'send_draft' ? { id: google.drafts()[0]?.id } : WRITES[tool]
  isReady = true
  let status = ''
  for (let life = 0; life <= restarts; life++) {
    const called = await caller(fresh())(tool, input, { id: 's/t/1/0', firstAttempt: life === 0 ? 1 : 2 })
    status = statusOf(called)
  }
  const effects = { draft_email: google.drafts().length, send_draft: google.sent.length, create_calendar_event: google.created.length }
  await google.close()
  return { times: effects[tool], status }
}

it('whatever breaks, nothing is written twice, and what is told is true', async () => {
  await fc.assert(
    fc.asyncProperty(troubles, async (trouble) => {
      const { times, status } = await written(trouble, true)
      expect(times).toBeLessThanOrEqual(1)
      if (status === 'ok') expect(times).toBe(1)
      if (status === 'unavailable' || status === 'failed' || status === 'retry') expect(times).toBe(0)
      // Two refusals of a token in a row: the login is not accepted.
      expect(['ok', 'unavailable', 'indeterminate', ...(trouble.writes.includes('expired') ? ['failed'] : [])]).toContain(status)
    }),
    { numRuns: samples(60, 1000) },
  )
})

it.each([
  'draft_email',
  'create_calendar_event',
] as const)('control: without looking first and a fixed id, %s happens twice', async (tool) => {
  const { times } = await written({ writes: ['reset after'], reads: [], hiddenReads: 0, restarts: 0, tool }, false)
  expect(times).toBe(2)
})
