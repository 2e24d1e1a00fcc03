import { afterEach, describe, expect, it, vi } from 'vitest'
import { redactMessage } from './redact.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('the message of an exception', () => {
  it.each([
    'no such column nme; did you mean name?',
    'GET https://api.example.org/v1/users/12?limit=5 answered 404 at 12:30:15',
    'Unexpected token } in JSON at position 12',
    'Expected a token: string, number or name',
    'The key must be at least 3 characters; see docs/keys.md:12',
    'unique constraint "users_pkey": Key (id)=(4) already exists',
    'The ratio is 3/4, and/or 1:2:3.',
  ])('stays as it is: %s', (message) => expect(redactMessage(message)).toBe(message))

  it.each([
    ['connect postgres://ann:hunter2@db:5432/notes failed', 'connect postgres://[secret]@db:5432/notes failed'],
    ['GET https://hunter2@example.org', 'GET https://[secret]@example.org'],
    ['Server=db;Password=hunter2;Database=x', 'Server=db;Password=[secret];Database=x'],
    ['refused {"token":"hunter2 x","user":"ann"}', 'refused {"token":[secret],"user":"ann"}'],
    ['password: hunter2', 'password: [secret]'],
    ['Authorization: Bearer hunter2hunter2', 'Authorization: Bearer [secret]'],
    ['invalid key sk-hunter2hunter2hunter2', 'invalid key [secret]'],
    ['GET /v1?api_key=hunter2&limit=5', 'GET /v1?api_key=[secret]&limit=5'],
    ['-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY----- refused', '[secret] refused'],
    ["ENOENT: no such file, open '/home/ann/my notes/plan.md'", "ENOENT: no such file, open '…/plan.md'"],
    ['cannot read /etc/ssl/hunter2/a.pem: denied', 'cannot read …/a.pem: denied'],
    ['cannot read C:\\Users\\ann\\a.txt', 'cannot read …/a.txt'],
    ['broken\n    at run (/home/ann/app.js:1:2)\n    at go (/home/ann/go.js:3:4)', 'broken'],
    ['broken at run (/home/ann/app.js:1:2) at go (node:fs:3:4)', 'broken'],
  ])('%s', (message, expected) => expect(redactMessage(message)).toBe(expected))

  it.each(['/home/ann/my app (2)', '/check/main', 'C:\\work'])('names the files of the working folder %s', (folder) => {
    vi.spyOn(process, 'cwd').mockReturnValue(folder)
    expect(redactMessage(`cannot read ${folder}/docs/a.md`)).toBe('cannot read docs/a.md')
    expect(redactMessage(`cannot read '${folder}/docs/a b.md'`)).toBe("cannot read 'docs/a b.md'")
    expect(redactMessage(`cannot open ${folder}: denied`)).toBe('cannot open .: denied')
    expect(redactMessage(`GET https://example.org${folder}/a`)).toBe(`GET https://example.org${folder}/a`)
  })

  it('has no value of a variable that is a secret by its name', () => {
    vi.stubEnv('NOTES_API_KEY', 'hunter2hunter2')
    vi.stubEnv('NOTES_REGION', 'north-pole')
    expect(redactMessage('hunter2hunter2 is not known in north-pole')).toBe('[secret] is not known in north-pole')
  })

  it('is at most 1,000 characters long, whatever its length', () => {
    expect(redactMessage('x'.repeat(1_000_000))).toHaveLength(1001)
    expect(redactMessage(`${'x'.repeat(995)} password=hunter2`)).not.toContain('hunter2')
  })
})
