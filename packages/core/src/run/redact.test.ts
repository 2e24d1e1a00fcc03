import { afterEach, describe, expect, it, vi } from 'vitest'
import { hasNothingToRedact, redactMessage } from './redact.ts'

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
    'GET http://localhost:5173/@fs/a.ts answered 404',
    'Authorization: required for this action',
    `Unexpected token: '}' at line 3`,
    'Missing credentials: "google" is not linked',
    `Invalid signature: 'f(a, b)' expected`,
    'No slot at https://cal.example/slots/2026-11-27T12:30:45Z, try 13:00',
    'Parse error at query://main:3:14. Did you mean "select"?',
    'GET /items?code=INVALID_ARGUMENT&key=category-name',
    'Failed authorization: order 12345678 is closed',
    'Invalid cookie: SameSite=None requires Secure, and it is not',
    'Unknown option npm_config_some_option of hf_model_downloader',
    'No route POST:/app/users, s3:/data/file, urn:/app/x',
    'Cannot resolve https://esm.sh:x/react@18.2.0/es2022',
  ])('stays as it is: %s', (message) => expect(redactMessage(message)).toBe(message))

  it.each([
    ['connect postgres://ann:hunter2@db:5432/notes failed', 'connect postgres://[secret]@db:5432/notes failed'],
    ['postgres://app:pw@db/main?owner=ops@example.org', 'postgres://[secret]@db/main?owner=ops@example.org'],
    ['GET https://hunter2@example.org', 'GET https://[secret]@example.org'],
    ['connect postgres://ann:hu@nter2@db:5432/notes failed', 'connect postgres://[secret]@db:5432/notes failed'],
    ['Invalid URL: mysql://ann:hun/t?e#r2@db/notes', 'Invalid URL: mysql://[secret]@db/notes'],
    ['GET https://maps.example.org/v1?q=Oslo&key=hunter2hunter2', 'GET https://maps.example.org/v1?q=Oslo&key=[secret]'],
    ['POST https://api.telegram.org/bot123456789:hunter2-hunter2/send', 'POST https://api.telegram.org/bot123456789:[secret]/send'],
    ['POST https://hooks.slack.com/services/T0/B0/hunter2', 'POST https://hooks.slack.com/services/T0/B0/[secret]'],
    ['401 for Authorization: Token hunter2hunter2', '401 for Authorization: Token [secret]'],
    ['401 for Cookie: session=hunter2; a=b', '401 for Cookie: [secret]'],
    ["bad config { user: 'ann', pass: 'hunter2' }", "bad config { user: 'ann', pass: [secret] }"],
    ['AccountName=acme;AccountKey=hunter2hunter2==;x', 'AccountName=acme;AccountKey=[secret];x'],
    ['Server=db;Password=hu,n&ter2;Database=x', 'Server=db;Password=[secret];Database=x'],
    ['refused (token=hunter2), try again', 'refused (token=[secret]), try again'],
    ['connect(password=hunter2,user=ann)', 'connect(password=[secret],user=ann)'],
    ['{"name":"Authorization","value":"ApiKey 0123456789abcdef"}', '{"name":"Authorization","value":"ApiKey [secret]"}'],
    ['no such file:/home/alice/notes.txt', 'no such file:…/notes.txt'],
    ['not found in /usr/local/bin:/home/alice/.local/bin', 'not found in …/bin:…/bin'],
    ['err:file:///home/ann/x', 'err:…/x'],
    ['error:~/.ssh/x', 'error:…/x'],
    ['401 for Authorization: OAuth hunter2hunter2h', '401 for Authorization: OAuth [secret]'],
    ['ENOENT:C:\\Users\\alice\\x', 'ENOENT:…/x'],
    ['/export/home/alice/x not found', '…/x not found'],
    ['boom\n    at load (webpack-internal:///(rsc)/./src/db.ts:12:9)', 'boom'],
    ['boom\n    at load (/srv/app/(shop)/page.tsx:12:9)', 'boom'],
    ['boom\n    at load (https://app.example.com/_next/db.js:12:9)', 'boom'],
    ['invalid key gsk_hunter2hunter2hunter2', 'invalid key [secret]'],
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

  it.each([
    [{ field: 'author', problem: 'unknown' }, true],
    [{ code: 'NOT_AUTHORIZED', status: 'passed', animal: 'monkey' }, true],
    [{ headers: [['Authorization', 'ApiKey 0123456789abcdef']] }, false],
    [{ name: 'Authorization', value: 'ApiKey 0123456789abcdef' }, false],
    [{ token: 'hunter2' }, false],
  ])('a thrown value with nothing to hide: %j, %s', (value, isHarmless) => expect(hasNothingToRedact(value)).toBe(isHarmless))

  it('takes no time that grows with the square of its line breaks', () =>
    expect(redactMessage(`${'\n'.repeat(19_000)}no such table`)).toBe('no such table'))

  it('has no value of a variable that is a secret by its name', () => {
    vi.stubEnv('NOTES_API_KEY', 'hunter2hunter2')
    vi.stubEnv('NOTES_REGION', 'north-pole')
    vi.stubEnv('NOTES_TOKEN', 'hunter+2/"=x')
    expect(redactMessage('?t=hunter%2B2%2F%22%3Dx and "hunter+2/\\"=x"')).toBe('?t=[secret] and "[secret]"')
    expect(redactMessage('hunter2hunter2 is not known in north-pole')).toBe('[secret] is not known in north-pole')
  })

  it('is at most 1,000 characters long, whatever its length', () => {
    expect(redactMessage('x'.repeat(1_000_000))).toHaveLength(1001)
    expect(redactMessage(`${'x'.repeat(995)} password=hunter2`)).not.toContain('hunter2')
  })
})
