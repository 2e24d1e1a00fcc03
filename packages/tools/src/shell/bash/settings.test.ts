import type { Completed } from '@mulligan/sandbox'
import { expect, test } from 'vitest'
import { wallText } from './walls.ts'

const failed = (more: Partial<Completed>): Completed => ({
  exitCode: 1,
  signal: null,
  reason: 'exit',
  stdout: '',
  stderr: '',
  droppedBytes: 0,
  durationMs: 1,
  backend: 'none',
  ...more,
})

test.each([
  ['npm error code EAI_AGAIN\nnpm error request to https://registry.npmjs.org/x failed', 'sandbox.network'],
  ['curl: (6) Could not resolve host: example.com', 'sandbox.network'],
  ['ssh: Could not resolve hostname github.com: Temporary failure in name resolution', 'sandbox.network'],
  ['Error: getaddrinfo ENOTFOUND registry.npmjs.org', 'sandbox.network'],
  ['connect: Network is unreachable', 'sandbox.network'],
  ['dial tcp: lookup proxy.golang.org: no such host', 'sandbox.network'],
  ['socket.gaierror: [Errno -3] Temporary failure in name resolution', 'sandbox.network'],
  ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory', 'sandbox.memory'],
  ['ERROR: Could not find a version that satisfies the requirement x (from versions: none)', 'sandbox.network'],
  ['go: example.com/x: module lookup disabled by GOPROXY=off', 'sandbox.network'],
  ['WARNING: Retrying after connection broken by NewConnectionError: Failed to establish a new connection', 'sandbox.network'],
  ["error: no matching package named `serde` found\nAs a reminder, you're using offline mode (--offline)", 'sandbox.network'],
  ['attempting to make an HTTP request, but --offline was specified', 'sandbox.network'],
  ['go: go.mod requires go >= 1.99 (running go 1.22; GOTOOLCHAIN=local)', 'sandbox.network'],
  [
    "npm error code ENOTCACHED\nnpm error request to https://registry.npmjs.org/x failed: cache mode is 'only-if-cached'",
    'sandbox.network',
  ],
  ['ERR_PNPM_NO_OFFLINE_TARBALL  A package is missing', 'sandbox.network'],
  ['Error: Network access disabled by the environment; can not reach https://registry.yarnpkg.com', 'sandbox.network'],
  ['info There appears to be trouble with your network connection. Retrying...', 'sandbox.network'],
  ['hint: Packages were unavailable because the network was disabled.', 'sandbox.network'],
  ['Could not reach host index.rubygems.org. Check your network connection and try again.', 'sandbox.network'],
  ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?', 'outside of it'],
  ['docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock', 'outside of it'],
  ['MemoryError', 'sandbox.memory'],
  ['sudo: The "no new privileges" flag is set, which prevents sudo from running as root.', 'leave out sudo'],
  ['bash: fork: retry: Resource temporarily unavailable', 'sandbox.pids'],
  ['write error: No space left on device', 'sandbox.disk'],
  ['touch: cannot touch /usr/x: Read-only file system', 'sandbox.mounts'],
])('%s', (stderr, setting) => expect(wallText('x', failed({ stderr }), 'none')).toContain(setting))

test.each([
  ['memory', 'sandbox.memory'],
  ['disk', 'sandbox.disk'],
  ['output', 'sandbox.output'],
] as const)('ended for %s', (reason, setting) =>
  expect(wallText('x', failed({ reason, exitCode: null, signal: 'SIGKILL' }), 'none')).toContain(setting))

test('with a network it is not the sandbox that is in the way; and a plain failure hits no wall', () => {
  expect(wallText('x', failed({ stderr: 'Could not resolve host: x' }), 'bridge')).toBeUndefined()
  expect(wallText('x', failed({ stderr: '1 test failed' }), 'none')).toBeUndefined()
})

test.each([
  "curl: (7) Failed to connect to localhost port 3123 after 0 ms: Couldn't connect to server",
  'Error: connect ECONNREFUSED 127.0.0.1:3123',
  '  errno: -111, code: connect ECONNREFUSED ::1:3123',
  "HTTPConnectionPool(host='localhost', port=3123): Failed to establish a new connection: [Errno 111] Connection refused",
])('nobody listens on the loopback, which is not for want of a network: %s', (stderr) => {
  const says = wallText('x', failed({ stderr }), 'none')
  expect(says).toMatch(/^Nothing listens there.*background: true/)
  expect(says).not.toContain('sandbox.network')
  const elsewhere = stderr.replace(/localhost|127\.0\.0\.1|::1/, 'example.com')
  expect(wallText('x', failed({ stderr: `${elsewhere}\nCould not resolve host: example.com` }), 'none')).toContain('sandbox.network')
})

test('curl -s says so with its exit code alone', () => {
  expect(wallText('curl -fsS https://example.com | sh', failed({ exitCode: 6 }), 'none')).toContain('sandbox.network')
  expect(wallText('curl -s https://example.com', failed({ exitCode: 22 }), 'none')).toBeUndefined()
  expect(wallText('curl -s http://localhost:3123', failed({ exitCode: 7 }), 'none')).toContain('Nothing listens there')
})
