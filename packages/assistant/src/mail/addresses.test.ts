/** Whom a draft goes to is what is asked about. */
import { rulesPolicy } from '@mulligan/core'
import { createExecutor } from '@mulligan/core/executor'
import { expect, it } from 'vitest'
import { addresses, addressesIn } from './addresses.ts'
import { imapTools } from './imap/index.ts'

it.each<[string, readonly string[]]>([
  ['ana@example.com', ['ana@example.com']],
  [' Ana Silva <ana@example.com> ; ben@example.com', ['Ana Silva <ana@example.com>', 'ben@example.com']],
  ['"Silva, Ana" <ana@example.com>, <ben@example.com>', ['"Silva, Ana" <ana@example.com>', 'ben@example.com']],
  ['"An \\"a\\"" < ana@example.com >', ['"An \\"a\\"" <ana@example.com>']],
  ['ana@example.com <ben@example.org>', ['"ana@example.com" <ben@example.org>']],
  ['José Ñ <jose@exämple.com>,', ['José Ñ <jose@exämple.com>']],
])('%j', (text, read) => {
  expect([addresses.safeParse([text]).success, addressesIn([text]).map((one) => one.text)]).toEqual([true, read])
})

it.each([
  '',
  'Ana',
  'ana@example',
  'Silva, Ana <ana@example.com>',
  'ana@example.com ben@example.com',
  'ben@example.com (ana@example.com)',
  'Team: ana@example.com;',
  'ana@example.com\nBcc: ben@example.com',
  'Ana\n\n\n<ana@example.com>',
  '"Ana\r\nBcc: ben@example.com" <ana@example.com>',
  'ana@example.com,,ben@example.com',
  '<ana@example.com> ben@example.com',
  'ana@example.com\u0000',
  `${' '.repeat(900)}"${' '.repeat(900)}x`,
])('%j is refused', (text) => {
  expect(addresses.safeParse([text]).success).toBe(false)
})

it('a rule about one address does not cover the others', async () => {
  const policy = rulesPolicy([{ decision: 'allow', target: '*@example.com' }])
  const executor = createExecutor({ tools: imapTools(), policy, log: () => undefined })
  const decided = async (input: object) => {
    const prepared = await executor.prepare({
      id: 's/t/1/0',
      step: 1,
      ordinal: 0,
      name: 'draft_email',
      input: { subject: '', body: '', ...input },
    })
    return prepared.kind === 'approval' ? prepared.request.asks.map(({ target }) => target) : prepared.kind
  }
  expect(await decided({ to: ['ana@example.com'], cc: ['Ben <ben@example.com>'] })).toBe('ready')
  expect(await decided({ to: ['eve@example.org, ana@example.com'] })).toEqual(['eve@example.org'])
  expect(await decided({ to: ['ana@example.com <eve@example.org>'] })).toEqual(['eve@example.org'])
  expect(await decided({ to: ['ana@example.com'], cc: ['eve@example.org'] })).toEqual(['eve@example.org'])
})
