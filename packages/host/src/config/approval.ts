/** The effective mode and rules of the user and the project. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { MODES, type Mode } from '@mulligan/core'
import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { toHome } from '../common/paths.ts'
import type { Setting } from '../common/setting.ts'
import type { ConfiguredRule } from './approval-fields.ts'
import type { ConfigFile } from './config-file.ts'

export interface ApprovalSettings {
  readonly mode: Setting<Mode>
  /** The person's, and those of a project that the person trusts. The first that matches decides. */
  readonly rules: readonly Setting<ConfiguredRule>[]
  /** The project's: they can only make it stricter. */
  readonly projectRules: readonly Setting<ConfiguredRule>[]
}

export interface ApprovalSources {
  readonly cwd: string
  readonly flag: string | undefined
  /** Of the environment. */
  readonly now: Setting<Mode> | undefined
  /** Of the project's, what counts. */
  readonly files: readonly ConfigFile[]
  readonly env: Env
}

/** @throws UsageError */
export function approvalSettings({ cwd, flag, now, files, env }: ApprovalSources): ApprovalSettings {
  const of = (origin: ConfigFile['origin']) => files.filter((file) => file.origin === origin)
  const rulesOf = (some: readonly ConfigFile[]): Setting<ConfiguredRule>[] =>
    some
      .flatMap(({ origin, shown, values }) =>
        (values.policy ?? []).map((value) => ({ value: value as ConfiguredRule, origin, from: shown })),
      )
      .filter(({ value }) => value.folder === undefined || isWithin(cwd, value.folder, env))
  const [own, project] = [of('user'), of('project')]
  const isTrusted = isTrustedProject(files, env)
  const projectRules = rulesOf(project)
  return {
    mode: asked(flag) ?? now ?? modeIn(project) ?? modeIn(own) ?? { value: 'ask', origin: 'default', from: 'default' },
    rules: [...rulesOf(own), ...(isTrusted ? projectRules : [])],
    projectRules,
  }
}

function asked(flag: string | undefined): Setting<Mode> | undefined {
  if (flag === undefined) return undefined
  const mode = MODES.find((one) => one === flag)
  if (mode === undefined) throw new UsageError(`there is no mode "${flag.slice(0, 40)}"`, `There are ${MODES.join(', ')}.`)
  return { value: mode, origin: 'flag', from: '--mode' }
}

const modeIn = ([file]: readonly ConfigFile[]): Setting<Mode> | undefined =>
  file?.values.mode && { value: file.values.mode, origin: file.origin, from: file.shown }

/**
 * What makes a project's file one that only a trusted project may have. @throws UsageError
 * A repository that somebody else wrote could otherwise let its own commands run.
 */
export function refuseAllowing(files: readonly ConfigFile[], env: Env): void {
  const [project, own] = [fileOf(files, 'project'), fileOf(files, 'user')]
  const at = (project?.values.policy ?? []).findIndex(({ decision }) => decision === 'allow')
  if (!project || at === -1 || isTrustedProject(files, env)) return
  throw new UsageError(
    `${project.shown}: policy[${at}] allows calls, which a project can't decide; it may only deny, or ask`,
    `If you trust this project: "trustedProjects": [${JSON.stringify(project.folder)}] in ${own?.shown || 'your own file'}.`,
  )
}

/** Whether the person trusts the folder that the project's file is of. */
export function isTrustedProject(files: readonly ConfigFile[], env: Env): boolean {
  const [project, own] = [fileOf(files, 'project'), fileOf(files, 'user')]
  return (own?.values.trustedProjects ?? []).some((one) => real(one, env) === project?.folder)
}

const fileOf = (files: readonly ConfigFile[], of: ConfigFile['origin']): ConfigFile | undefined => files.find(({ origin }) => origin === of)

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
