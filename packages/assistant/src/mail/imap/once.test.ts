/** Whatever breaks between the servers and here, a draft is saved once and a message is sent once. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { samples } from '../../../../../scripts/test-scope.fixture.ts'
import { caller, statusOf } from '../../call.fixture.ts'
import { memoryValues } from '../../common/pages.ts'
import { imapTools } from './index.ts'
import {
  contents,
  type Dovecot,
  hasDovecot,
  type ImapFault,
  imapProxy,
  PASSWORD,
  type SmtpFault,
  smtp,
  startDovecot,
  withMailbox,
} from './mail-servers.fixture.ts'

const DRAFT = { to: ['ana@example.com'], subject: 'Decisions', body: 'Ship it.' }

const troubles = fc.record({
  tool: fc.constantFrom('draft_email', 'send_draft'),
  /** For commands that change something, in order. */
  imap: fc.array(
    fc.constantFrom<ImapFault | 'none'>('reset before', 'reset after', 'NO [UNAVAILABLE] later', 'NO [LIMIT] slow down', 'none'),
    {
      maxLength: 4,
    },
  ),
  smtp: fc.array(fc.constantFrom<SmtpFault | 'none'>('reset before', 'reset after', 451, 'none'), { maxLength: 3 }),
  restarts: fc.nat({ max: 2 }),
  /** Whether the session is lost with the process, so that only the mailbox knows. */
  forgets: fc.boolean(),
})
type Trouble = typeof troubles extends fc.Arbitrary<infer T> ? T : never

const fault = <T>(from: (T | 'none')[]): T | undefined => {
  const next = from.shift()
  return next === 'none' ? undefined : next
}

describe.skipIf(!hasDovecot && !process.env['CI'])('mail under faults', () => {
  let dovecot: Dovecot
  let users = 0
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot[Symbol.asyncDispose]())

  /** @param between called between two lives of the process */
  async function written(
    { tool, imap, smtp: smtpFaults, restarts, forgets }: Trouble,
    between: (user: string) => Promise<void> = async () => undefined,
  ) {
    const user = `once${users++}@example.com`
    const left = { imap: [...imap], smtp: [...smtpFaults] }
    let isReady = false
    await using proxy = await imapProxy(dovecot.port, (command) =>
      isReady && /APPEND|STORE|EXPUNGE/.test(command) ? fault<ImapFault>(left.imap) : undefined,
    )
    await using out = await smtp(() => fault<SmtpFault>(left.smtp))
    const settings = { address: user, imap: `imap://127.0.0.1:${proxy.port}`, smtp: `smtp://127.0.0.1:${out.port}` }
    let values = memoryValues()
    const fresh = () => caller(imapTools({ settings, password: async () => PASSWORD }, values))
    let input: object = DRAFT
    if (tool === 'send_draft') {
      await fresh()('draft_email', DRAFT)
      input = { id: await draftId(user) }
    }
    isReady = true
    let status = ''
    for (let life = 0; life <= restarts; life++) {
      if (life > 0) await between(user)
      if (life > 0 && forgets) values = memoryValues()
      status = statusOf(await fresh()(tool, input, { id: 's/t/1/0', firstAttempt: life === 0 ? 1 : 2 }))
    }
    const times = tool === 'draft_email' ? (await contents(dovecot.port, user, 'Drafts')).length : out.taken.length
    return { times, status }
  }

  const draftId = (user: string): Promise<string> =>
    withMailbox(dovecot.port, user, async (client) => {
      const { uidValidity } = await client.mailboxOpen('Drafts')
      return `${uidValidity}-1-Drafts`
    })

  const CUT: Trouble = { tool: 'send_draft', imap: [], smtp: ['reset after'], restarts: 1, forgets: true }

  it('nothing is written twice, and what is told is true', async () => {
    await fc.assert(
      fc.asyncProperty(troubles, async (trouble) => {
        const { times, status } = await written(trouble)
        expect(times).toBeLessThanOrEqual(1)
        if (status === 'ok') expect(times).toBe(1)
        if (status === 'unavailable' || status === 'failed' || status === 'retry') expect(times).toBe(0)
      }),
      { numRuns: samples(12, 300), examples: [[CUT]] },
    )
  })

  it('control: without the mark on the draft, the message is sent twice', async () => {
    const unmark = (user: string): Promise<void> =>
      withMailbox(dovecot.port, user, async (client) => {
        await client.mailboxOpen('Drafts')
        await client.messageFlagsRemove('1:*', ['$SubmitPending'])
      })
    expect([(await written(CUT)).times, (await written(CUT, unmark)).times]).toEqual([1, 2])
  })
})
