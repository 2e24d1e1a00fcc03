/** The sandbox settings: their schema, what a project may set, and the effective values. */
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import {
  BACKENDS,
  checkLimit,
  DEFAULT_SANDBOX_LIMITS,
  type Limits,
  parseSize,
  type SandboxOptions,
  STRICT_LIMITS,
  sizeText,
} from '@mulligan/sandbox'
import { z } from 'zod'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { PROJECT_CONFIG, TOOLS_FOLDER, toHome } from '../common/paths.ts'
import type { Setting } from '../common/setting.ts'
import { key, keys, type ProjectRule, tighten, trusted, user } from './project-rules.ts'

const BACKEND_CHOICES = ['auto', ...BACKENDS] as const
const PROFILES = ['default', 'strict'] as const
const NETWORKS = ['none', 'bridge'] as const
const GIT_PROGRAMS = ['ignore', 'run'] as const

/** What the check takes, for the JSON Schema, which can't see into it. */
const SIZE = {
  anyOf: [
    { type: 'string', pattern: '^\\d+(\\.\\d+)? ?[kKmMgGtT]?[iI]?[bB]?$' },
    { type: 'number', exclusiveMinimum: 0 },
  ],
}
const NUMBER = { type: 'number', exclusiveMinimum: 0 }

const limited = <T>(limit: keyof Limits, schema: Readonly<Record<string, unknown>>, description: string) =>
  z
    .custom<T>((value) => limitFault(limit, value) === undefined, { error: ({ input }) => limitFault(limit, input) ?? '' })
    .meta({ ...schema, description, default: schema === SIZE ? sizeText(DEFAULT_SANDBOX_LIMITS[limit]) : DEFAULT_SANDBOX_LIMITS[limit] })
const path = () => z.string().regex(/^(?:\/|~\/|[A-Za-z]:[\\/])/, 'a path that begins with / or ~/')
const variable = () => z.string().regex(/^[A-Za-z_]\w*$/, 'the name of a variable, without its value')

const secretFile = () =>
  z
    .string()
    .min(1)
    .refine((path) => !path.split(/[\\/]/).includes('..'), 'a path in the workspace')

const loosens = user('would loosen the sandbox')
/** A limit of the sandbox, below what the person has, or else the profile. */
const below = (name: keyof typeof LIMIT_OF): ProjectRule =>
  tighten((theirs: string | number, own) => {
    const mine = own(`sandbox.${name}`) as string | number | undefined
    const profile = own('sandbox.profile') === 'strict' ? STRICT_LIMITS : DEFAULT_SANDBOX_LIMITS
    return numberOf(theirs) < (mine === undefined ? profile[LIMIT_OF[name]] : numberOf(mine))
  })

export const sandboxFields = () =>
  keys(
    {
      backend: key(
        z
          .enum(BACKEND_CHOICES)
          .meta({ description: 'Which sandbox. `auto` is the first that can be opened, never `none`.', default: 'auto' }),
        loosens,
      ),
      profile: key(
        z.enum(PROFILES).meta({ description: '`strict` has tighter limits.', default: 'default' }),
        tighten((theirs: string) => theirs === 'strict'),
      ),
      network: key(
        z.enum(NETWORKS).meta({ description: 'The network access of commands.', default: 'none' }),
        tighten((theirs: string) => theirs === 'none', {
          refuses: (theirs) => (theirs === 'bridge' ? 'would loosen the sandbox' : undefined),
        }),
      ),
      memory: key(limited<string | number>('memory', SIZE, 'The memory limit of a command, all processes together.'), below('memory')),
      cpus: key(limited<number>('cpus', NUMBER, 'The number of processors a command may use.'), below('cpus')),
      pids: key(limited<number>('processes', NUMBER, 'The number of processes a command may run at once.'), below('pids')),
      timeout: key(limited<number>('timeout', NUMBER, 'The time limit of a command in seconds, at most 600.'), below('timeout')),
      user: key(
        z
          .custom<number | 'auto'>((value) => value === 'auto' || (Number.isSafeInteger(value) && Number(value) >= 0), 'a uid, or "auto"')
          .meta({
            anyOf: [{ type: 'integer', minimum: 0 }, { const: 'auto' }],
            description: 'The user that commands run as in a container.',
          }),
        loosens,
      ),
      mounts: key(
        z
          .array(z.strictObject({ path: path(), mode: z.enum(['read-only', 'read-write']).optional() }))
          .describe('More folders that commands can see, read-only by default.'),
        loosens,
      ),
      output: key(limited<string | number>('output', SIZE, 'How much command output is kept.'), below('output')),
      disk: key(limited<string | number>('disk', SIZE, 'How much a command may write.'), below('disk')),
      env: key(z.array(variable()).describe('Names of environment variables that commands receive.'), loosens),
      image: key(z.string().min(1).describe('The container image.'), loosens),
      gitPrograms: key(
        z.enum(GIT_PROGRAMS).meta({
          description: 'Whether git in a command runs the hooks, filters and other programs that a repository names.',
          default: 'ignore',
        }),
        loosens,
      ),
      readable: key(
        z
          .array(secretFile())
          .describe(
            'Secret files, such as `.env.test`, that commands may read; the others are empty for them. Paths in the workspace; one that begins with / or ~/ is of that folder alone.',
          ),
        trusted('may name some after your approval (`mulligan trust`)', 'lets commands read these secret files'),
      ),
    },
    'The sandbox that commands run in.',
  )
export type SandboxFields = z.infer<ReturnType<typeof sandboxFields>>

/** What is not given is the sandbox's default. */
export interface SandboxSettings {
  readonly backend: Setting<(typeof BACKEND_CHOICES)[number]> | undefined
  readonly profile: Setting<(typeof PROFILES)[number]> | undefined
  readonly network: Setting<(typeof NETWORKS)[number]> | undefined
  /** Bytes. */
  readonly memory: Setting<number>
  readonly cpus: Setting<number>
  readonly pids: Setting<number>
  /** Seconds. */
  readonly timeout: Setting<number>
  /** Bytes. */
  readonly output: Setting<number>
  /** Bytes. */
  readonly disk: Setting<number>
  readonly user: Setting<number | 'auto'> | undefined
  readonly mounts: Setting<NonNullable<SandboxFields['mounts']>> | undefined
  readonly env: Setting<readonly string[]> | undefined
  readonly image: Setting<string> | undefined
  readonly gitPrograms: Setting<(typeof GIT_PROGRAMS)[number]> | undefined
  readonly readable: Setting<readonly string[]> | undefined
}

/** Of `mulligan sandbox run`. */
export type SandboxFlags = Pick<SandboxFields, 'backend' | 'profile' | 'network' | 'memory' | 'timeout'>

interface Layers {
  readonly flags: SandboxFlags
  readonly env: SandboxEnv
  readonly project: SandboxLayer
  readonly user: SandboxLayer
}

/** What the environment says. */
export interface SandboxEnv {
  readonly values: SandboxFields
  /** The variable that a key comes from. */
  readonly from: (key: string) => string
}

/** What one file says; of the project's, what counts. */
export interface SandboxLayer {
  readonly values: SandboxFields
  readonly shown: string
}

/** A project that is strict has the limits of that profile as its own. */
export function withProfile(project: SandboxFields): SandboxFields {
  if (project.profile !== 'strict') return project
  const lowest = (name: keyof typeof LIMIT_OF): number => {
    const given = project[name]
    const strict = STRICT_LIMITS[LIMIT_OF[name]]
    return given === undefined ? strict : Math.min(numberOf(given), strict)
  }
  return { ...project, ...Object.fromEntries((Object.keys(LIMIT_OF) as (keyof typeof LIMIT_OF)[]).map((name) => [name, lowest(name)])) }
}

/** A flag, then the environment, then what counts of the project's file, then the person's. */
export function sandboxSettings({ flags, env, project, user }: Layers): SandboxSettings {
  checkFlags(flags)
  const own = <Key extends keyof SandboxFields>(key: Key, { [key]: flag }: SandboxFields = flags): Given<Key> | undefined =>
    flag !== undefined
      ? { value: flag, origin: 'flag', from: `--${key}` }
      : (setting(env.values[key], 'env', env.from(`sandbox.${key}`)) ??
        setting(project.values[key], 'project', project.shown) ??
        setting(user.values[key], 'user', user.shown))
  const isStrict = (flags.profile ?? env.values.profile ?? user.values.profile) === 'strict'
  const limit = (key: keyof typeof LIMIT_OF): Setting<number> => {
    const given = own(key)
    const profile = isStrict ? STRICT_LIMITS : DEFAULT_SANDBOX_LIMITS
    return given ? { ...given, value: numberOf(given.value) } : { value: profile[LIMIT_OF[key]], ...DEFAULT }
  }
  return {
    backend: own('backend'),
    profile: own('profile'),
    network: own('network'),
    memory: limit('memory'),
    cpus: limit('cpus'),
    pids: limit('pids'),
    timeout: limit('timeout'),
    output: limit('output'),
    disk: limit('disk'),
    user: own('user'),
    mounts: own('mounts'),
    env: own('env'),
    image: own('image'),
    gitPrograms: own('gitPrograms'),
    readable: readableOf(project, user),
  }
}

/** Those of both files. */
function readableOf(project: SandboxLayer, user: SandboxLayer): SandboxSettings['readable'] {
  const given = [project, user].filter(({ values }) => values.readable !== undefined)
  if (given.length === 0) return undefined
  return {
    value: [...new Set(given.flatMap(({ values }) => values.readable ?? []))],
    origin: given.includes(user) ? 'user' : 'project',
    from: given.map(({ shown }) => shown).join(', '),
  }
}

type Given<Key extends keyof SandboxFields> = Setting<NonNullable<SandboxFields[Key]>>

const DEFAULT = { origin: 'default', from: 'default' } as const
const LIMIT_OF = {
  memory: 'memory',
  cpus: 'cpus',
  pids: 'processes',
  timeout: 'timeout',
  output: 'output',
  disk: 'disk',
} as const satisfies Readonly<Record<string, keyof Limits>>

const setting = <T>(value: T | undefined, origin: 'env' | 'project' | 'user', from: string): Setting<NonNullable<T>> | undefined =>
  value === undefined || value === null ? undefined : { value, origin, from }

/** As {@link createSandbox} takes them. */
export function sandboxOptions(settings: SandboxSettings, workspace: string, env: Env): SandboxOptions {
  const { backend, profile, network, memory, cpus, pids, timeout, output, disk, user, mounts, env: passed, image, gitPrograms } = settings
  return {
    workspace,
    // Tools, agents and settings are read from there at the next start, outside of the sandbox.
    protect: [dirname(TOOLS_FOLDER), PROJECT_CONFIG],
    limits: {
      memory: memory.value,
      cpus: cpus.value,
      processes: pids.value,
      timeout: timeout.value,
      output: output.value,
      outputStop: Math.max(DEFAULT_SANDBOX_LIMITS.outputStop, output.value),
      disk: disk.value,
    },
    ...(backend && { backend: backend.value }),
    ...(profile && { profile: profile.value }),
    ...(network && { network: network.value }),
    ...(user && { user: user.value }),
    ...(mounts && { mounts: mounts.value.map(({ path, mode = 'read-only' }) => ({ path: toHome(path, env), mode })) }),
    ...(passed && { env: passed.value }),
    ...(image && { image: image.value }),
    ...(gitPrograms && { gitPrograms: gitPrograms.value }),
  }
}

/** Secret files that commands may read, as paths from the workspace. */
export const readableSecrets = ({ readable }: SandboxSettings, workspace: string, env: Env): readonly string[] =>
  (readable?.value ?? [])
    .map((path) => relative(workspace, resolve(workspace, toHome(path, env))).replaceAll(sep, '/'))
    .filter((path) => path !== '' && path.split('/')[0] !== '..' && !isAbsolute(path))

/** @throws UsageError that names the flag */
function checkFlags({ memory, timeout }: SandboxFlags): void {
  for (const [name, value] of Object.entries({ memory, timeout }) as ['memory' | 'timeout', unknown][]) {
    const fault = value === undefined ? undefined : limitFault(name, value)
    if (fault !== undefined) throw new UsageError(`--${name} ${value}: ${fault}`, 'mulligan sandbox run --help shows what there is.')
  }
}

const numberOf = (value: string | number): number => (typeof value === 'number' ? value : parseSize(value))

/** Why a value is no such limit; the sizes may be written with a unit. */
function limitFault(limit: keyof Limits, value: unknown): string | undefined {
  const isSize = limit === 'memory' || limit === 'output' || limit === 'disk'
  if (typeof value !== 'number' && !(isSize && typeof value === 'string')) return isSize ? 'a size such as "512m" or "2g"' : 'a number'
  try {
    checkLimit(limit, numberOf(value))
    return undefined
  } catch (error) {
    return (error as RangeError).message
  }
}
