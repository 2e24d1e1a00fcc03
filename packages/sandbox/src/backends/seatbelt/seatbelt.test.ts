import { describe, expect, test } from 'vitest'
import { DEFAULT_SANDBOX_LIMITS } from '../../limits.ts'
import { seatbelt, seatbeltProfile } from './seatbelt.ts'

const own = '/private/var/folders/x/mulligan'
const same = (path: string, mode: 'read-only' | 'read-write') => ({ source: path, target: path, mode })
const VIEW: Parameters<typeof seatbeltProfile>[0] = {
  workspace: '/Users/me/code/a "b" \\c',
  home: '/Users/me',
  homeFolder: `${own}/home`,
  tmpFolder: `${own}/tmp`,
  mounts: [
    { source: `${own}/home`, target: '/Users/me', mode: 'read-write' },
    { source: `${own}/tmp`, target: '/tmp', mode: 'read-write' },
    same('/Users/me/.cargo', 'read-only'),
    { source: `${own}/empty`, target: '/Users/me/.cargo/credentials.toml', mode: 'read-only' },
    same('/Users/me/code/a "b" \\c', 'read-write'),
    same('/Users/me/code/a "b" \\c/.git/hooks', 'read-only'),
  ],
  absent: ['/Users/me/code/a "b" \\c/.mulligan'],
}

type Expression = string | readonly Expression[]

/** Parses enough of the language to query a profile's decisions. */
function parse(text: string): readonly Expression[] {
  const stack: Expression[][] = [[]]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+/g)) {
    const top = stack.at(-1) as Expression[]
    if (token === '(') stack.push([])
    else if (token !== ')') top.push(token.startsWith('"') ? JSON.parse(token) : token)
    else stack.at(-2)?.push(stack.pop() as Expression[])
  }
  expect(stack).toHaveLength(1)
  return stack[0] ?? []
}

function decides(profile: string, operation: string, path: string): string {
  const fits = (filter: Expression): boolean => {
    const [kind, value] = filter as readonly [string, string]
    return kind === 'literal' ? path === value : kind === 'subpath' ? path === value || path.startsWith(`${value}/`) : false
  }
  const covers = (name: Expression): boolean =>
    typeof name === 'string' &&
    (name === 'default' || name === operation || (name.endsWith('*') && operation.startsWith(name.slice(0, -1))))
  let decision = 'allow'
  for (const [verdict, ...rest] of parse(profile) as readonly Expression[][]) {
    const filters = rest.filter((one) => typeof one !== 'string')
    if (verdict !== 'version' && rest.some(covers) && (filters.length === 0 || filters.some(fits))) decision = String(verdict)
  }
  return decision
}

describe('the profile', () => {
  const profile = seatbeltProfile(VIEW, 'none')

  test.each([
    ['file-read-data', `${VIEW.workspace}/src/a.ts`, 'allow'],
    ['file-write-data', `${VIEW.workspace}/src/a.ts`, 'allow'],
    ['file-read-data', `${VIEW.workspace}/.git/hooks/pre-commit`, 'allow'],
    ['file-write-create', `${VIEW.workspace}/.git/hooks/pre-commit`, 'deny'],
    ['file-read-data', '/Users/me/code/other/a.ts', 'deny'],
    ['file-read-data', '/Users/me/code', 'deny'],
    ['file-read-metadata', '/Users/me/code', 'allow'],
    ['file-read-data', '/Users/me/.ssh/id_ed25519', 'deny'],
    ['file-read-metadata', '/Users/me/.ssh/id_ed25519', 'deny'],
    ['file-read-data', '/Users/me/Library/Keychains/login.keychain-db', 'deny'],
    ['file-read-data', '/Users/me/.cargo/bin/cargo', 'allow'],
    ['file-write-data', '/Users/me/.cargo/bin/cargo', 'deny'],
    ['file-read-data', '/Users/me/.cargo/credentials.toml', 'deny'],
    ['file-write-create', `${own}/home/.cache/x`, 'allow'],
    ['file-write-create', `${own}/tmp/x`, 'allow'],
    ['file-write-create', `${own}/outside`, 'deny'],
    ['file-write-create', '/private/tmp/x', 'deny'],
    ['file-read-data', '/usr/bin/git', 'allow'],
    ['file-write-data', '/usr/local/bin/git', 'deny'],
    ['file-read-data', '/private/etc/master.passwd', 'deny'],
    ['file-write-data', '/dev/null', 'allow'],
    ['file-write-data', '/dev/disk0', 'deny'],
    ['network-outbound', '1.2.3.4', 'deny'],
    ['mach-lookup', 'com.apple.SecurityServer', 'deny'],
    ['appleevent-send', 'com.apple.Terminal', 'deny'],
  ])('%s %s: %s', (operation, path, decision) => expect(decides(profile, operation, path)).toBe(decision))

  test('opens the network only when it is asked to', () => {
    expect(profile).not.toContain('network')
    expect(seatbeltProfile(VIEW, 'bridge')).toMatch(/\(allow network-outbound \(remote ip\)\)/)
  })
})

test.skipIf(process.platform === 'darwin')('is not to be had elsewhere', async () => {
  const view = { ...VIEW, containerMounts: [], links: [], absent: [], env: {} }
  const request = {
    view,
    limits: DEFAULT_SANDBOX_LIMITS,
    network: 'none',
    user: { uid: 1, gid: 1, onHost: 'same' },
    image: undefined,
  } as const
  await expect(seatbelt.open(request)).rejects.toMatchObject({ name: 'SandboxError', message: expect.stringContaining('macOS') })
})
