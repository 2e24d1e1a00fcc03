/** The effective sandbox settings and the options derived from them. */
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { DEFAULT_SANDBOX_LIMITS, type SandboxOptions, STRICT_LIMITS } from '@mulligan/sandbox'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { PROJECT_CONFIG, TOOLS_FOLDER, toHome } from '../common/paths.ts'
import type { Setting } from '../common/setting.ts'
import { given, type Layer } from './layers.ts'
import { isLimit, limitFault, numberOf, SANDBOX_LIMITS, type SandboxLimit } from './sandbox-limits.ts'
import { ROWS, type SandboxFields } from './schema.ts'

/** Sizes are in bytes, times in seconds. Missing values use the sandbox's defaults. */
export type SandboxSettings = {
  readonly [Name in keyof SandboxFields]-?: Name extends SandboxLimit
    ? Setting<number>
    : Setting<NonNullable<SandboxFields[Name]>> | undefined
}

const NAMES = ROWS.flatMap(([, [group, name]]) => (group === 'sandbox' ? [name as keyof SandboxFields] : []))
const LIMITS = Object.keys(SANDBOX_LIMITS) as SandboxLimit[]

/** Adds the limits of the strict profile to a project that selects it. */
export function withProfile(project: SandboxFields): SandboxFields {
  if (project.profile !== 'strict') return project
  const lowest = (name: SandboxLimit): number => Math.min(numberOf(project[name] ?? Infinity), STRICT_LIMITS[SANDBOX_LIMITS[name]])
  return { ...project, ...Object.fromEntries(LIMITS.map((name) => [name, lowest(name)])) }
}

/** Reads the sandbox settings. @throws UsageError for a wrong flag */
export function sandboxSettings(layers: readonly Layer[]): SandboxSettings {
  const isStrict = given(layers, 'sandbox.profile').find(({ origin }) => origin !== 'project')?.value === 'strict'
  const profile = isStrict ? STRICT_LIMITS : DEFAULT_SANDBOX_LIMITS
  const effective = (name: keyof SandboxFields): Setting<unknown> | undefined => {
    const all = given(layers, `sandbox.${name}`)
    const [first] = all
    if (name === 'readable') return combined(given(layers, 'sandbox.readable'))
    if (!isLimit(name)) return first
    const fault = first?.origin === 'flag' ? limitFault(name, first.value) : undefined
    if (fault !== undefined) throw new UsageError(`--${name} ${first?.value}: ${fault}`, 'mulligan sandbox run --help shows the flags.')
    return first
      ? { ...first, value: numberOf(first.value as string | number) }
      : { value: profile[SANDBOX_LIMITS[name]], origin: 'default', from: 'default' }
  }
  return Object.fromEntries(NAMES.map((name) => [name, effective(name)])) as SandboxSettings
}

/** Combines the lists of both files. */
function combined(all: readonly Setting<readonly string[]>[]): Setting<readonly string[]> | undefined {
  const [last] = all.slice(-1)
  return last && { ...last, value: [...new Set(all.flatMap(({ value }) => value))], from: all.map(({ from }) => from).join(', ') }
}

/** Returns the options for {@link createSandbox}. */
export function sandboxOptions(settings: SandboxSettings, workspace: string, env: Env): SandboxOptions {
  const { backend, profile, network, user, mounts, env: passed, image, gitPrograms, output } = settings
  const limits = Object.fromEntries(LIMITS.map((name) => [SANDBOX_LIMITS[name], settings[name].value]))
  return {
    workspace,
    // Tools, agents and settings in these folders are loaded at the next start, outside the sandbox.
    protect: [dirname(TOOLS_FOLDER), PROJECT_CONFIG],
    limits: { ...limits, outputStop: Math.max(DEFAULT_SANDBOX_LIMITS.outputStop, output.value) },
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

/** Returns the secret files that commands may read, as paths relative to the workspace. */
export const readableSecrets = ({ readable }: SandboxSettings, workspace: string, env: Env): readonly string[] =>
  (readable?.value ?? [])
    .map((path) => relative(workspace, resolve(workspace, toHome(path, env))).replaceAll(sep, '/'))
    .filter((path) => path !== '' && path.split('/')[0] !== '..' && !isAbsolute(path))
