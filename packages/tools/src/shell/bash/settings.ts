/** The sandbox's walls, as programs complain of them, and the setting that moves each. Pure. */
import type { Completed } from '@mulligan/sandbox'

interface Wall {
  /** What the command ran into. */
  readonly what: string
  /** Absent where no setting moves it. */
  readonly lifted?: string
  readonly seen: RegExp
}

/** The loopback, which all commands of a sandbox share. */
const LOCAL = '(?:\\b(?:localhost|127(?:\\.\\d{1,3}){3}|0\\.0\\.0\\.0)\\b|(?<![\\w:])::1(?!\\w))'

const NETWORK: Wall = {
  what: 'The sandbox has no network.',
  lifted: 'sandbox.network: bridge (MULLIGAN_SANDBOX_NETWORK=bridge)',
  seen: new RegExp(
    `^(?!.*${LOCAL}).*(?:${[
      'EAI_AGAIN',
      'getaddrinfo (?:ENOTFOUND|EAI_)',
      'ENETUNREACH',
      'Could not resolve (?:host|proxy)',
      'Network is unreachable',
      'Temporary failure (?:in name resolution|resolving)',
      'Name or service not known',
      'nodename nor servname provided',
      'failed to lookup address',
      'dial tcp: lookup ',
      'unable to resolve host address',
      'Failed to establish a new connection',
      'network is unreachable',
      'from versions: none',
      'module lookup disabled by GOPROXY=off',
      'GOTOOLCHAIN=local',
      'but --offline was specified',
      "you're using offline mode",
      'ENOTCACHED',
      'ERR_PNPM_NO_OFFLINE_',
      'trouble with your network connection',
      'Network access disabled by the environment',
      'the network was disabled',
      'Network connectivity is disabled',
      'All attempts to connect to',
      'CondaHTTPError',
      'Failed to open TCP connection',
      'Could not reach host',
      'curl error 6 ',
      'Unable to load the service index',
      'UnknownHostException',
      'dns error',
      "bad address '",
    ].join('|')})`,
    'm',
  ),
}

/** Without a network, only the loopback can refuse. */
const NOT_LISTENING: Wall = {
  what: 'Nothing listens there in the sandbox. A server that is started with background: true is reached by later commands as long as it runs.',
  seen: /ECONNREFUSED|[Cc]onnection refused|Couldn't connect to server/,
}

/** What they say with their exit code alone: curl, and wget. */
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
  { what: 'What it wanted to write is read-only in the sandbox.', lifted: 'sandbox.mounts', seen: /Read-only file system|EROFS/ },
]

/** The limit that the sandbox itself ended the command for. */
const BY_REASON: Readonly<Partial<Record<Completed['reason'], Omit<Wall, 'seen'>>>> = {
  memory: { what: 'It took more memory than the sandbox gives, and was ended.', lifted: MEMORY_SETTING },
  disk: { what: 'It wrote more to the disk than the sandbox allows, and was ended.', lifted: 'sandbox.disk' },
  output: { what: 'It printed more than the sandbox takes, and was ended. Write it to a file, or print less.', lifted: 'sandbox.output' },
}

/**
 * A sentence that names the setting; undefined where no wall was in the way.
 * @param network what the sandbox lets the command reach
 */
export function wallText(script: string, { reason, exitCode, stdout, stderr }: Completed, network: 'none' | 'bridge'): string | undefined {
  const isSilent = SILENT.test(script) && SILENT_CODES.includes(exitCode ?? 0)
  const silent = new RegExp(LOCAL).test(script) ? NOT_LISTENING : NETWORK
  const walls = network === 'none' ? [...(isSilent ? [{ ...silent, seen: /^/ }] : [NETWORK, NOT_LISTENING]), ...WALLS] : WALLS
  const limit = BY_REASON[reason]
  const wall = limit ?? walls.find(({ seen }) => seen.test(stderr) || seen.test(stdout))
  // An out-of-memory kill of a child leaves no words.
  const found = wall ?? (exitCode === 137 ? { ...MEMORY, what: 'If it ran out of memory:' } : undefined)
  return found && (found.lifted === undefined ? found.what : `${found.what} A person can change that: ${found.lifted}.`)
}
