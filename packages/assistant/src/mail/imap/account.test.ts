import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { accountOf, passwordFor } from './account.ts'
import { mailPassword, savePassword } from './password.ts'

const at = (imap: string, smtp = 'smtps://smtp.example.com') => accountOf({ address: 'Ana <ana@example.com>', imap, smtp })

it.each([
  ['imaps://imap.example.com', { host: 'imap.example.com', port: 993, tls: 'implicit' }],
  ['imaps://imap.example.com:1993/', { host: 'imap.example.com', port: 1993, tls: 'implicit' }],
  ['imap://imap.example.com', { host: 'imap.example.com', port: 143, tls: 'required' }],
  ['imap://127.0.0.1.evil.example', { host: '127.0.0.1.evil.example', port: 143, tls: 'required' }],
  ['imap://127.0.0.1:1143', { host: '127.0.0.1', port: 1143, tls: 'offered' }],
  ['imap://localhost', { host: 'localhost', port: 143, tls: 'offered' }],
  ['imap://[::1]:1143', { host: '::1', port: 1143, tls: 'offered' }],
])('encryption of %s', (imap, server) => expect(at(imap).imap).toEqual(server))

it.each(['https://example.com', 'smtp://example.com', 'imap.example.com', 'imaps://'])('%s is refused', (imap) =>
  expect(() => at(imap)).toThrow(/mail\.imap is not an address such as imaps:/))

it('a password is for one login at both servers', () => {
  const { address, user, from } = at('imaps://imap.example.com')
  expect([address, user, from]).toEqual(['ana@example.com', 'ana@example.com', 'Ana <ana@example.com>'])
  const all = [at('imaps://imap.example.com'), at('imaps://evil.example'), at('imaps://imap.example.com', 'smtps://evil.example')]
  expect(new Set(all.map(passwordFor)).size).toBe(3)
})

it('a stored password goes to no other server; one in the environment is used as it is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-mail-'))
  const file = join(folder, 'mail.json')
  try {
    await savePassword(file, at('imaps://imap.example.com'), 'kanarie', { keychain: false })
    expect(await mailPassword({ env: {}, file }, at('imaps://imap.example.com'))).toBe('kanarie')
    expect(await mailPassword({ env: {}, file }, at('imaps://evil.example'))).toBeUndefined()
    expect(await mailPassword({ env: { MAIL_PASSWORD: 'given' }, file }, at('imaps://evil.example'))).toBe('given')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
