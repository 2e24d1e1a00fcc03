/** The mail tools on Dovecot and an SMTP server: what is found, what is not, what is asked wrongly, what breaks, what is not set up. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { caller, statusOf } from '../../call.fixture.ts'
import { memoryValues } from '../../common/pages.ts'
import { imapTools, type MailSettings } from './index.ts'
import {
  contents,
  type Dovecot,
  deliver,
  hasDovecot,
  type ImapFault,
  type ImapProxy,
  imapProxy,
  PASSWORD,
  type SmtpFault,
  type StrictSmtp,
  smtp,
  startDovecot,
} from './mail-servers.fixture.ts'

const message = (subject: string, body: string, more = ''): string =>
  `From: =?utf-8?Q?Ana_S=C3=ADlva?= <ana@example.com>\nTo: me@example.com\nSubject: ${subject}\nMessage-ID: <${subject.length}.${body.length}@example.com>\nDate: Tue, 24 Nov 2026 10:00:00 +0000\n${more}\n${body}`

const PLAIN = message('Planning', 'We ship on Friday.', 'Content-Type: text/plain; charset=utf-8\n')
const HTML = message(
  '=?utf-8?B?R3LDvMOfZQ==?=',
  '<style>p{}</style><p>One&nbsp;two caf=E9</p><script>alert(1)</script><a href="https://example.com">here</a>',
  'Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n',
)
const ATTACHED = message(
  'With a file',
  "--x\nContent-Type: text/plain\n\nSee the plan.\n--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''pl%C3%A4n.pdf\nContent-Transfer-Encoding: base64\n\nJVBERg==\n--x--\n",
  'Content-Type: multipart/mixed; boundary=x\n',
)

const open: AsyncDisposable[] = []
let dovecot: Dovecot
let users = 0

interface Given {
  readonly messages?: readonly string[]
  readonly imap?: (command: string) => ImapFault | undefined
  readonly smtp?: () => SmtpFault | undefined
  readonly refused?: readonly string[]
  readonly settings?: Partial<MailSettings>
  readonly password?: string | undefined
}

/** A mailbox of its own. */
async function world({ messages = [PLAIN, HTML, ATTACHED], imap, smtp: smtpFault, refused, settings, ...given }: Given = {}) {
  const user = `user${users++}@example.com`
  await deliver(dovecot.port, user, messages)
  const out: StrictSmtp = await smtp(smtpFault, refused)
  const proxy: ImapProxy = await imapProxy(dovecot.port, (command) => imap?.(command))
  open.push(out, proxy)
  const values = memoryValues()
  const password = 'password' in given ? given.password : PASSWORD
  const all = {
    address: `Me <${user}>`,
    user,
    imap: `imap://127.0.0.1:${proxy.port}`,
    smtp: `smtp://127.0.0.1:${out.port}`,
    ...settings,
  }
  const fresh = () => caller(imapTools({ settings: all, password: async () => password }, values))
  const tools = imapTools({ settings: all, password: async () => password }, values)
  return { user, out, proxy, tools, call: caller(tools), fresh, folder: (name: string) => contents(dovecot.port, user, name) }
}

/** Ids, days, ports and users are replaced. */
const steady = (text: string): string =>
  text
    .replace(/\b1[5-9]\d{8}-(\d+)-/g, 'V-$1-')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d\.\d{3}Z)?/g, 'TIME')
    .replace(/127\.0\.0\.1:\d+/g, 'SERVER')
    .replace(/user\d+@/g, 'USER@')

const idIn = (text: string): string => /\d+-\d+-\w+/.exec(text)?.[0] ?? ''
const DRAFT = { to: 'Ana <ana@example.com>, ben@example.com', subject: 'Decisions – Freitag', body: 'Ship it.\nGrüße' }

describe.skipIf(!hasDovecot && !process.env['CI'])('mail by IMAP and SMTP', () => {
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot[Symbol.asyncDispose]())
  afterEach(async () => {
    for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
  })

  describe('found', () => {
    it('list_emails, and its second page', async () => {
      const { call } = await world()
      expect(steady((await call('list_emails', { max_results: 2 })).text)).toMatchSnapshot()
      expect(steady((await call('list_emails', { max_results: 2, page: 2 })).text)).toMatchSnapshot()
    })

    it.each([
      ['planning'],
      ['from:ana@example.com subject:planning'],
      ['Friday ship'],
      ['subject:Grüße'],
      ['has:attachment'],
      ['is:unread -planning -file'],
      ['after:2020/01/01 "we ship"'],
    ])('search_emails %s', async (query) => {
      const { call } = await world()
      const called = await call('search_emails', { query })
      expect(called.record.result).toMatchObject({ ok: true, count: 1 })
    })

    it.each([PLAIN, HTML, ATTACHED])('read_email', async (one) => {
      const { call } = await world({ messages: [one] })
      const id = idIn((await call('list_emails', {})).text)
      const { text } = await call('read_email', { id })
      expect(steady(text)).toMatchSnapshot()
      expect(text).not.toMatch(/alert|JVBER/)
    })

    it('reading marks nothing as read, and fetches no attachment', async () => {
      const { call, folder } = await world({ messages: [ATTACHED] })
      await call('read_email', { id: idIn((await call('list_emails', {})).text) })
      expect((await folder('INBOX')).map(({ flags }) => flags.includes('\\Seen'))).toEqual([false])
    })

    it('a draft is saved, shown, sent as it was seen, and filed', async () => {
      const { call, fresh, folder, out, tools, user } = await world()
      // With an executor of its own, because what follows a read asks.
      const inbox = (await fresh()('list_emails', {})).text
      const drafted = await call('draft_email', { ...DRAFT, reply_to_id: idIn(inbox) })
      expect(steady(drafted.text)).toMatchSnapshot()
      const [draft] = await folder('Drafts')
      expect(draft?.source).toMatch(/^From: Me <user/m)
      expect(draft?.source).toMatch(/^In-Reply-To: <\d+\.\d+@example\.com>/m)
      const id = idIn(drafted.text)
      const send = tools.find(({ name }) => name === 'send_draft')
      expect(await send?.preview?.({ id } as never)).toMatch(
        /\+To: Ana <ana@example\.com>, ben@example\.com\n\+Subject: Decisions – Freitag/,
      )
      const sent = await call('send_draft', { id })
      expect(sent.text).toMatchSnapshot()
      expect(out.taken).toEqual([{ from: user, to: ['ana@example.com', 'ben@example.com'], source: expect.stringContaining('Ship it.') }])
      expect((await folder('Sent')).map(({ source }) => source)).toEqual(out.taken.map(({ source }) => source))
      expect(await folder('Drafts')).toEqual([])
    })

    it('a draft of another program keeps Bcc secret, and shows it to the person', async () => {
      const { call, folder, out, tools, user } = await world()
      const bare = 'To: ana@example.com\nBcc: Boss <boss@example.com>,\n  ben@example.com\nSubject: Hi\n\nHello\n'
      await deliver(dovecot.port, user, [bare], 'Drafts', ['\\Draft'])
      const { text } = await call('send_draft', { id: '1-1-Drafts' })
      const id = /Nearest: "(\S+) \(Hi\)/.exec(text)?.[1] ?? ''
      const send = tools.find(({ name }) => name === 'send_draft')
      expect(await send?.preview?.({ id } as never)).toContain('+Bcc: Boss <boss@example.com>, ben@example.com')
      expect(statusOf(await call('send_draft', { id }))).toBe('ok')
      expect(out.taken[0]).toMatchObject({ to: ['ana@example.com', 'boss@example.com', 'ben@example.com'] })
      expect(out.taken[0]?.source).not.toMatch(/boss|ben@/i)
      expect((await folder('Sent'))[0]?.source).toMatch(/^Message-ID: <\w+@example\.com>/m)
    })

    it('who was not accepted is named', async () => {
      const { call, out } = await world({ refused: ['ben@example.com'] })
      const sent = await call('send_draft', { id: idIn((await call('draft_email', DRAFT)).text) })
      expect([statusOf(sent), sent.text]).toEqual(['ok', expect.stringContaining('did not accept ben@example.com')])
      expect(out.taken).toMatchObject([{ to: ['ana@example.com'] }])
    })
  })

  describe('nothing found', () => {
    it.each<[string, object]>([
      ['list_emails', {}],
      ['search_emails', { query: 'no such words' }],
    ])('%s', async (name, input) => {
      const { call } = await world({ messages: name === 'list_emails' ? [] : [PLAIN] })
      const called = await call(name, input)
      expect(called.record.result).toMatchObject({ ok: true, count: 0 })
      expect(called.text).toMatchSnapshot()
    })
  })

  describe('asked wrongly', () => {
    it.each<[string, object]>([
      ['list_emails', { page: 3 }],
      ['search_emails', { query: 'in:anywhere plan' }],
      ['search_emails', { query: 'after:tomorrow' }],
      ['read_email', { id: 'the one of Ana' }],
      ['read_email', { id: '1-1-INBOX' }],
      ['read_email', { id: '1-1-../../etc/passwd' }],
      ['draft_email', { to: 'Ana', subject: 'x', body: 'y' }],
      ['draft_email', { to: 'ana@example.com', subject: 'x', body: 'y', reply_to_id: '1-1-INBOX' }],
      ['send_draft', { id: '1-1-Drafts' }],
    ])('%s %j', async (name, input) => {
      const { call, folder, out } = await world()
      const called = await call(name, input)
      expect(statusOf(called)).toBe('retry')
      expect(steady(called.text)).toMatchSnapshot()
      expect([await folder('Drafts'), out.taken]).toEqual([[], []])
    })
  })

  const READS = { list_emails: {}, search_emails: { query: 'planning' }, read_email: { id: '1-1-INBOX' } }
  const ALL = { ...READS, draft_email: DRAFT, send_draft: { id: '1-1-Drafts' } }

  describe('the service is faulty', () => {
    it.each(Object.entries(ALL))('%s: it cannot be reached', async (name, input) => {
      const { call, proxy } = await world()
      await proxy[Symbol.asyncDispose]()
      open.splice(open.indexOf(proxy), 1)
      const called = await call(name, input)
      expect(called.record.attempts).toBeGreaterThan(1)
      expect(steady(called.text)).toMatchSnapshot()
    })

    it.each<[string, ImapFault]>([
      ['limited', 'NO [LIMIT] slow down'],
      ['busy', 'NO [UNAVAILABLE] later'],
      ['broken off', 'reset after'],
    ])('%s is waited for', async (_, fault) => {
      let failed = 0
      const { call } = await world({ imap: (command) => (/SELECT|EXAMINE/.test(command) && failed++ < 2 ? fault : undefined) })
      expect(statusOf(await call('list_emails', {}))).toBe('ok')
    })

    it('a refused search is not taken for an empty one', async () => {
      const { call } = await world({ imap: (command) => (/SEARCH/.test(command) ? 'NO no search today' : undefined) })
      expect(statusOf(await call('search_emails', { query: 'planning' }))).toBe('failed')
    })

    it.each<[SmtpFault, string, number]>([
      [451, 'unavailable', 0],
      [554, 'failed', 0],
      ['reset before', 'indeterminate', 0],
      ['reset after', 'indeterminate', 1],
    ])('a message is answered with %s', async (fault, status, times) => {
      const { call, out, folder } = await world({ smtp: () => fault })
      const id = idIn((await call('draft_email', DRAFT)).text)
      const called = await call('send_draft', { id })
      expect([statusOf(called), out.taken.length]).toEqual([status, times])
      expect(steady(called.text)).toMatchSnapshot()
      expect(await folder('Drafts')).toHaveLength(1)
    })
  })

  describe('not set up', () => {
    it.each(Object.entries(ALL))('%s', async (name, input) => {
      const called = await caller(imapTools())(name, input)
      expect(called.record.result).toMatchObject({ ok: false, status: 'failed', errorType: 'config' })
      expect(called.text).toMatchSnapshot()
    })

    it.each<[string, Given, RegExp]>([
      ['no password', { password: undefined }, /no password for [\s\S]*mulligan auth mail/],
      ['a wrong password', { password: 'wrong' }, /does not accept the password[\s\S]*mulligan auth mail/],
      ['not an address', { settings: { imap: 'https://example.com' } }, /mail\.imap is not an address such as imaps:/],
      ['TLS that is not spoken there', { settings: { imap: 'imaps://127.0.0.1' } }, /cannot be reached/],
    ])('%s', async (_, given, says) => {
      const { call } = await world(given)
      const called = await call('list_emails', {})
      expect(called.text).toMatch(says)
      expect(JSON.stringify(called)).not.toContain(PASSWORD)
    })
  })

  it('a draft that was changed after it was shown is not sent', async () => {
    const { call, out, tools, user } = await world()
    const id = idIn((await call('draft_email', DRAFT)).text)
    const send = tools.find(({ name }) => name === 'send_draft')
    await send?.preview?.({ id } as never)
    // IMAP has no editing: a program saves a new draft and removes the old one.
    await deliver(dovecot.port, user, ['To: mallory@example.com\nSubject: Other\n\nOther\n'], 'Drafts')
    expect(out.taken).toEqual([])
    expect(statusOf(await call('send_draft', { id }))).toBe('ok')
    expect(out.taken).toMatchObject([{ to: ['ana@example.com', 'ben@example.com'] }])
  })

  it('a message that is not a draft is neither shown as one nor sent, and stays where it is', async () => {
    const { call, fresh, folder, out, tools } = await world({ messages: [PLAIN] })
    const id = idIn((await fresh()('list_emails', {})).text)
    expect(id).toMatch(/INBOX$/)
    const send = tools.find(({ name }) => name === 'send_draft')
    expect(await send?.preview?.({ id } as never)).toBeUndefined()
    expect(statusOf(await call('send_draft', { id }))).toBe('retry')
    expect([out.taken, (await folder('INBOX')).length]).toEqual([[], 1])
  })

  it('another call does not send a draft that may have been sent', async () => {
    let cuts = 0
    const { call, out, fresh } = await world({ smtp: () => (cuts++ === 0 ? 'reset after' : undefined) })
    const id = idIn((await call('draft_email', DRAFT)).text)
    expect(statusOf(await call('send_draft', { id }))).toBe('indeterminate')
    expect(statusOf(await fresh()('send_draft', { id }))).toBe('indeterminate')
    expect(out.taken).toHaveLength(1)
  })
})
