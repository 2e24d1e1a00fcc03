/** What runs without a question: the mode and the rules, of the person and of the project. */
import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { MODES, type Mode, stricterMode } from '@mulligan/core'
import { UsageError } from '../exit.ts'
import { toHome } from '../paths.ts'
import type { ConfiguredRule } from './approval-fields.ts'
import type { ConfigFile } from './config-file.ts'
import type { Setting } from './setting.ts'

type Env = Readonly<Record<string, string | undefined>>

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
  readonly env: Env
  readonly files: readonly ConfigFile[]
}

/** @throws UsageError */
export function approvalSettings({ cwd, flag, env, files }: ApprovalSources): ApprovalSettings {
  const of = (origin: ConfigFile['origin']) => files.filter((file) => file.origin === origin)
  const rulesOf = (some: readonly ConfigFile[]): Setting<ConfiguredRule>[] =>
    some
      .flatMap(({ origin, shown, values }) =>
        (values.policy ?? []).map((value) => ({ value: value as ConfiguredRule, origin, from: shown })),
      )
      .filter(({ value }) => value.folder === undefined || isWithin(cwd, value.folder))
  const [own, project] = [of('user'), of('project')]
  const isTrusted = own.some(({ values }) => trusts(values.trustedProjects, cwd))
  const projectRules = rulesOf(project)
  return {
    mode:
      named(flag, 'flag', '--mode') ??
      named(env['MULLIGAN_MODE'], 'env', 'MULLIGAN_MODE') ??
      modeOf(modeIn(project), modeIn(own) ?? { value: 'ask', origin: 'default', from: 'default' }, isTrusted),
    rules: [...rulesOf(own), ...(isTrusted ? projectRules : [])],
    projectRules,
  }
}

function named(value: string | undefined, origin: 'flag' | 'env', from: string): Setting<Mode> | undefined {
  if (value === undefined || value === '') return undefined
  const mode = MODES.find((one) => one === value)
  if (mode === undefined) throw new UsageError(`${from}: there is no mode "${value.slice(0, 40)}"`, `There are ${MODES.join(', ')}.`)
  return { value: mode, origin, from }
}

const modeIn = ([file]: readonly ConfigFile[]): Setting<Mode> | undefined =>
  file?.values.mode && { value: file.values.mode, origin: file.origin, from: file.shown }

/** A project may be stricter than the person, not laxer, unless the person trusts it. */
function modeOf(project: Setting<Mode> | undefined, own: Setting<Mode>, isTrusted: boolean): Setting<Mode> {
  if (project === undefined) return own
  return isTrusted || stricterMode(project.value, own.value) !== own.value ? project : own
}

/**
 * What makes a project's file one that only a trusted project may have. @throws UsageError
 * A repository that somebody else wrote could otherwise let its own commands run.
 */
export function refuseAllowing(project: ConfigFile, own: ConfigFile, cwd: string): void {
  const at = (project.values.policy ?? []).findIndex(({ decision }) => decision === 'allow')
  if (at === -1 || trusts(own.values.trustedProjects, cwd)) return
  throw new UsageError(
    `${project.shown}: policy[${at}] allows calls, which a project can't decide; it may only deny, or ask`,
    `If you trust this project: "trustedProjects": [${JSON.stringify(cwd)}] in ${own.shown || 'your own file'}.`,
  )
}

const trusts = (folders: readonly string[] = [], cwd: string): boolean => folders.some((one) => real(one) === cwd)

const isWithin = (cwd: string, folder: string): boolean => {
  const at = real(folder)
  return cwd === at || cwd.startsWith(at.endsWith(sep) ? at : at + sep)
}

function real(path: string): string {
  const whole = toHome(path)
  try {
    return realpathSync(whole)
  } catch {
    return whole
  }
}
