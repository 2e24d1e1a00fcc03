/** The settings of the sandbox: what may stand in a file, which of them a project may set, and what is in force. */
import { dirname } from 'node:path'
import {
  BACKENDS,
  checkLimit,
  DEFAULT_LIMITS,
  type Limits,
  parseSize,
  type SandboxOptions,
  STRICT_LIMITS,
  sizeText,
} from '@mulligan/sandbox'
import { z } from 'zod'
import { UsageError } from '../exit.ts'
import { PROJECT_CONFIG, TOOLS_FOLDER, toHome } from '../paths.ts'
import type { Setting } from './setting.ts'

const BACKEND_CHOICES = ['auto', ...BACKENDS] as const
const PROFILES = ['default', 'strict'] as const
const NETWORKS = ['none', 'bridge'] as const

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
    .meta({ ...schema, description, default: schema === SIZE ? sizeText(DEFAULT_LIMITS[limit]) : DEFAULT_LIMITS[limit] })
const path = () => z.string().regex(/^(?:\/|~\/|[A-Za-z]:[\\/])/, 'a path that begins with / or ~/')
const variable = () => z.string().regex(/^[A-Za-z_]\w*$/, 'the name of a variable, without its value')

export const sandboxFields = () =>
  z
    .strictObject({
      backend: z
        .enum(BACKEND_CHOICES)
        .meta({ description: 'Which sandbox. `auto` is the first that can be opened, never `none`.', default: 'auto' }),
      profile: z.enum(PROFILES).meta({ description: '`strict` gives a command less of everything.', default: 'default' }),
      network: z.enum(NETWORKS).meta({ description: 'The network that commands have.', default: 'none' }),
      memory: limited<string | number>('memory', SIZE, 'The memory that a command may take with all its processes.'),
      cpus: limited<number>('cpus', NUMBER, 'The processors that a command may use.'),
      pids: limited<number>('processes', NUMBER, 'The processes that a command may have at once.'),
      timeout: limited<number>('timeout', NUMBER, 'Seconds that a command may take, at most 600.'),
      user: z
        .custom<number | 'auto'>((value) => value === 'auto' || (Number.isSafeInteger(value) && Number(value) >= 0), 'a uid, or "auto"')
        .meta({
          anyOf: [{ type: 'integer', minimum: 0 }, { const: 'auto' }],
          description: 'The user that commands run as in a container.',
        }),
      mounts: z
        .array(z.strictObject({ path: path(), mode: z.enum(['read-only', 'read-write']).optional() }))
        .describe('Folders beside the workspace that commands see; read-only unless it says otherwise.'),
      output: limited<string | number>('output', SIZE, 'How much of what a command prints is kept.'),
      disk: limited<string | number>('disk', SIZE, 'How much a command may write.'),
      env: z.array(variable()).describe('Variables of your environment that commands get, by name.'),
      image: z.string().min(1).describe('The image that containers run.'),
    })
    .partial()
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

/** What one file says. */
export interface SandboxLayer {
  readonly values: SandboxFields
  readonly shown: string
}

/** A flag, then the environment, then the person's file; the project's file can only make it tighter than the person's. */
export function sandboxSettings({ flags, env, project, user }: Layers): SandboxSettings {
  checkFlags(flags)
  const own = <Key extends keyof SandboxFields>(key: Key, { [key]: flag }: SandboxFields = flags): Given<Key> | undefined =>
    flag !== undefined
      ? { value: flag, origin: 'flag', from: `--${key}` }
      : (setting(env.values[key], 'env', env.from(`sandbox.${key}`)) ?? setting(user.values[key], 'user', user.shown))
  const isNow = ({ origin }: { origin: string } = { origin: '' }): boolean => origin === 'flag' || origin === 'env'
  /** A project's value counts where it is the tight one, and nobody says otherwise just now. */
  const tighter = <Key extends 'profile' | 'network'>(key: Key, tight: SandboxFields[Key]): Given<Key> | undefined => {
    const mine = own(key)
    const asked = project.values[key] === tight ? setting(project.values[key], 'project', project.shown) : undefined
    return isNow(mine) ? mine : (asked ?? mine)
  }
  const profile = own('profile')?.value === 'strict' ? STRICT_LIMITS : DEFAULT_LIMITS
  const limit = (key: keyof typeof LIMIT_OF): Setting<number> => {
    const given = own(key)
    const mine: Setting<number> = given ? { ...given, value: numberOf(given.value) } : { value: profile[LIMIT_OF[key]], ...DEFAULT }
    if (isNow(mine)) return mine
    const asked = [project.values[key], project.values.profile === 'strict' ? STRICT_LIMITS[LIMIT_OF[key]] : undefined]
    const from = { origin: 'project', from: project.shown } as const
    return [mine, ...asked.flatMap((value) => (value === undefined ? [] : [{ value: numberOf(value), ...from }]))].toSorted(
      (a, b) => a.value - b.value,
    )[0] as Setting<number>
  }
  return {
    backend: own('backend'),
    profile: tighter('profile', 'strict'),
    network: tighter('network', 'none'),
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
export function sandboxOptions(settings: SandboxSettings, workspace: string): SandboxOptions {
  const { backend, profile, network, memory, cpus, pids, timeout, output, disk, user, mounts, env, image } = settings
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
      outputStop: Math.max(DEFAULT_LIMITS.outputStop, output.value),
      disk: disk.value,
    },
    ...(backend && { backend: backend.value }),
    ...(profile && { profile: profile.value }),
    ...(network && { network: network.value }),
    ...(user && { user: user.value }),
    ...(mounts && { mounts: mounts.value.map(({ path, mode = 'read-only' }) => ({ path: toHome(path), mode })) }),
    ...(env && { env: env.value }),
    ...(image && { image: image.value }),
  }
}

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
