/** Recognises sandbox restrictions in error output, and names the setting that changes each. Pure. */
import type { Completed } from '@mulligan/sandbox'

interface Wall {
  /** Explains the restriction. */
  readonly what: string
  /** The setting that changes it. Absent if there is none. */
  readonly lifted?: string
  readonly seen: RegExp
}

/** Loopback addresses; all commands in a sandbox share the loopback. */
const LOCAL = '(?:\\b(?:localhost|127(?:\\.\\d{1,3}){3}|0\\.0\\.0\\.0)\\b|(?<![\\w:])::1(?!\\w))'

const NO_NETWORK = [
  /EAI_AGAIN|getaddrinfo (?:ENOTFOUND|EAI_)|ENETUNREACH|Could not resolve (?:host|proxy)|[Nn]etwork is unreachable|Name or service not known/,
  /Temporary failure (?:in name resolution|resolving)|nodename nor servname provided|failed to lookup address|dial tcp: lookup |dns error/,
  /unable to resolve host address|Failed to establish a new connection|from versions: none|module lookup disabled by GOPROXY=off/,
  /GOTOOLCHAIN=local|but --offline was specified|you're using offline mode|ENOTCACHED|ERR_PNPM_NO_OFFLINE_|CondaHTTPError|bad address '/,
  /trouble with your network connection|Network access disabled by the environment|the network was disabled|Network connectivity is disabled/,
  /All attempts to connect to|Failed to open TCP connection|Could not reach host|curl error 6 |UnknownHostException|Unable to load the service index/,
]
const NETWORK: Wall = {
  what: 'The sandbox has no network.',
  lifted: 'sandbox.network: bridge (MULLIGAN_SANDBOX_NETWORK=bridge)',
  seen: new RegExp(`^(?!.*${LOCAL}).*(?:${NO_NETWORK.map(({ source }) => source).join('|')})`, 'm'),
}

/** Without a network, only the loopback can refuse a connection. */
const NOT_LISTENING: Wall = {
  what: 'Nothing listens there in the sandbox. Later commands can reach a server started with background: true while it runs.',
  seen: /ECONNREFUSED|[Cc]onnection refused|Couldn't connect to server/,
}

/** Silent modes of curl and wget, which report errors only by their exit code. */
const SILENT = /\bcurl\b[^;|&]{0,200}\s-\w{0,9}s|\bwget\b[^;|&]{0,200}\s-\w{0,9}q/
const SILENT_CODES = [4, 6, 7]

const MEMORY_SETTING = 'sandbox.memory (MULLIGAN_SANDBOX_MEM)'
const MEMORY: Wall = {
  what: 'It ran out of memory.',
  lifted: MEMORY_SETTING,
  seen: /Cannot allocate memory|JavaScript heap out of memory|^MemoryError|std::bad_alloc|OutOfMemoryError|virtual memory exhausted/m,
}

const WALLS: readonly Wall[] = [
  MEMORY,
  {
    what: 'No container daemon can be reached from the sandbox: ask the user to run this outside of it, or do without containers.',
    seen: /Cannot connect to the Docker daemon|permission denied while trying to connect to the [Dd]ocker|[Ff]ailed to connect to the docker API|[Cc]annot connect to Podman|dial unix \S*docker\.sock/,
  },
  {
    what: 'Nobody is root in the sandbox: leave out sudo, and work inside the workspace.',
    seen: /^sudo: (?:The "no new privileges" flag|effective uid is not 0|.*must be owned by uid 0|unable to)|are you root\?|requires superuser/m,
  },
  {
    what: 'It started too many processes.',
    lifted: 'sandbox.pids',
    seen: /fork: (?:retry: )?Resource temporarily unavailable|pthread_create.{0,200}(?:EAGAIN|Resource temporarily)|can't start new thread/i,
  },
  { what: 'Its disk is full.', lifted: 'sandbox.disk', seen: /No space left on device|ENOSPC/ },
  {
    what: 'It tried to write to something that is read-only in the sandbox.',
    lifted: 'sandbox.mounts',
    seen: /Read-only file system|EROFS/,
  },
]

/** The limits for which the sandbox itself ends a command. */
const BY_REASON: Readonly<Partial<Record<Completed['reason'], Omit<Wall, 'seen'>>>> = {
  memory: { what: 'It used more memory than the sandbox allows, and was ended.', lifted: MEMORY_SETTING },
  disk: { what: 'It wrote more to the disk than the sandbox allows, and was ended.', lifted: 'sandbox.disk' },
  output: { what: 'It printed more than the sandbox allows, and was ended. Write it to a file, or print less.', lifted: 'sandbox.output' },
}

/**
 * Returns a sentence that names the setting, or undefined if no restriction was involved.
 * @param network what the sandbox lets the command reach
 */
export function wallText(script: string, { reason, exitCode, stdout, stderr }: Completed, network: 'none' | 'bridge'): string | undefined {
  const isSilent = SILENT.test(script) && SILENT_CODES.includes(exitCode ?? 0)
  const silent = new RegExp(LOCAL).test(script) ? NOT_LISTENING : NETWORK
  const walls = network === 'none' ? [...(isSilent ? [{ ...silent, seen: /^/ }] : [NETWORK, NOT_LISTENING]), ...WALLS] : WALLS
  const limit = BY_REASON[reason]
  const wall = limit ?? walls.find(({ seen }) => seen.test(stderr) || seen.test(stdout))
  // When the out-of-memory killer ends a child process, nothing is printed.
  const found = wall ?? (exitCode === 137 ? { ...MEMORY, what: 'If it ran out of memory:' } : undefined)
  return found && (found.lifted === undefined ? found.what : `${found.what} A person can change that: ${found.lifted}.`)
}
