/** The effective mode and rules of the user and the project. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { MODES, type Mode } from '@mulligan/core/executor'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { toHome } from '../common/paths.ts'
import type { Setting } from '../common/setting.ts'
import { given, type Layer } from './layers.ts'
import type { ConfigFile } from './places.ts'
import type { ConfiguredRule } from './schema.ts'

export interface ApprovalSettings {
  readonly mode: Setting<Mode>
  /** The user's rules, and those of a project that the user trusts. The first match decides. */
  readonly rules: readonly Setting<ConfiguredRule>[]
  /** The project's rules: they can only make the policy stricter. */
  readonly projectRules: readonly Setting<ConfiguredRule>[]
}

/** Reads the mode and the rules. @throws UsageError for an unknown mode */
export function approvalSettings(layers: readonly Layer[], isTrusted: boolean, cwd: string, env: Env): ApprovalSettings {
  const [mode] = given(layers, 'mode')
  if (mode && !MODES.includes(mode.value))
    throw new UsageError(`there is no mode "${mode.value.slice(0, 40)}"`, `The modes are ${MODES.join(', ')}.`)
  const rules = given(layers, 'policy')
    .flatMap(({ value, ...rest }) => value.map((rule) => ({ ...rest, value: rule as ConfiguredRule })))
    .filter(({ value }) => value.folder === undefined || isWithin(cwd, value.folder, env))
  const projectRules = rules.filter(({ origin }) => origin === 'project')
  return {
    mode: mode ?? { value: 'ask', origin: 'default', from: 'default' },
    rules: [...rules.filter(({ origin }) => origin === 'user'), ...(isTrusted ? projectRules : [])],
    projectRules,
  }
}

/**
 * Refuses rules of a project that allow something, unless the user trusts the project: otherwise a repository by somebody else could allow
 * its own commands.
 * @throws UsageError
 */
export function refuseAllowing(files: readonly ConfigFile[], env: Env): void {
  const [project, own] = [fileOf(files, 'project'), fileOf(files, 'user')]
  const at = (project?.values.policy ?? []).findIndex(({ decision }) => decision === 'allow')
  if (!project || at === -1 || isTrustedProject(files, env)) return
  throw new UsageError(
    `${project.shown}: policy[${at}] allows calls, which a project can't decide; it may only deny or ask`,
    `If you trust this project: "trustedProjects": [${JSON.stringify(project.folder)}] in ${own?.shown || 'your own file'}.`,
  )
}

/** Whether the user trusts the project that the file belongs to. */
export function isTrustedProject(files: readonly ConfigFile[], env: Env): boolean {
  const [project, own] = [fileOf(files, 'project'), fileOf(files, 'user')]
  return (own?.values.trustedProjects ?? []).some((one) => real(one, env) === project?.folder)
}

export const fileOf = (files: readonly ConfigFile[], of: ConfigFile['origin']): ConfigFile | undefined =>
  files.find(({ origin }) => origin === of)

const isWithin = (cwd: string, folder: string, env: Env): boolean => {
  const at = real(folder, env)
  return cwd === at || cwd.startsWith(at.endsWith(sep) ? at : at + sep)
}

function real(path: string, env: Env): string {
  const whole = toHome(path, env)
  try {
    return realpathSync(whole)
  } catch {
    return whole
  }
}
