/** What a project's file may say. A repository that somebody else wrote brings it along, so that it widens nothing that the person has not given. */
import { isObject } from '../is-object.ts'
import type { Config } from './schema.ts'

/**
 * `choose`: its value stands above the person's. `add`: beside the person's, without replacing one. `lower`: the lower one counts.
 * `tighten`: the stricter one counts. `nothing`: the file is refused, and `why` says so.
 */
export type ProjectRule =
  | { readonly may: 'choose' | 'add' | 'lower' | 'tighten'; readonly says: string }
  | { readonly may: 'nothing'; readonly why: string }

const data = { may: 'nothing', why: 'decides where data goes' } as const
const loosens = { may: 'nothing', why: 'would loosen the sandbox' } as const
const tightens = { may: 'tighten', says: 'may make it tighter' } as const

/** By key; a key counts for those below it. What is not listed, no project may set. */
export const PROJECT_RULES: Readonly<Record<string, ProjectRule>> = {
  $schema: { may: 'choose', says: 'may set it' },
  model: { may: 'choose', says: 'may choose one on this machine, or on one of `remoteHosts`' },
  baseUrl: { may: 'choose', says: 'may choose one on this machine, or on one of `remoteHosts`' },
  models: { may: 'choose', says: 'may choose it' },
  agent: { may: 'choose', says: 'may choose it where you choose none, or trust it' },
  agents: { may: 'add', says: 'may add some; yours keep their names' },
  'tools.lean': { may: 'choose', says: 'may choose them' },
  'tools.off': { may: 'add', says: 'may add some' },
  limits: { may: 'lower', says: 'may lower it' },
  web: data,
  diagnostics: { may: 'add', says: 'may add some, which run in a sandbox' },
  'sandbox.backend': loosens,
  'sandbox.user': loosens,
  'sandbox.mounts': loosens,
  'sandbox.env': loosens,
  'sandbox.image': loosens,
  'sandbox.gitPrograms': loosens,
  'sandbox.profile': tightens,
  'sandbox.network': tightens,
  'sandbox.memory': tightens,
  'sandbox.cpus': tightens,
  'sandbox.pids': tightens,
  'sandbox.timeout': tightens,
  'sandbox.output': tightens,
  'sandbox.disk': tightens,
  mode: { may: 'tighten', says: 'may make it stricter' },
  policy: { may: 'tighten', says: 'may deny and ask' },
  trustedProjects: { may: 'nothing', why: 'says whom you trust' },
  remoteHosts: data,
}

/** @param path of a key */
export function projectRule(path: readonly string[]): ProjectRule | undefined {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join('.')
    if (Object.hasOwn(PROJECT_RULES, key)) return PROJECT_RULES[key]
  }
  return undefined
}

/** The first key of a project's file that it may not have, and why. */
export function refusedIn(values: Config): { readonly key: string; readonly why: string } | undefined {
  for (const [name, value] of Object.entries(values)) {
    const inner = projectRule([name]) === undefined && isObject(value) ? Object.keys(value).map((one) => [name, one]) : [[name]]
    for (const path of inner) {
      const rule = projectRule(path)
      if (rule === undefined) return { key: path.join('.'), why: 'is yours to decide' }
      if (rule.may === 'nothing') return { key: path.join('.'), why: rule.why }
    }
  }
  return values.sandbox?.network === 'bridge' ? { key: 'sandbox.network: bridge', why: loosens.why } : undefined
}

/** For the person, after "a project's file". */
export function ruleText(rule: ProjectRule | undefined): string {
  if (rule === undefined) return "can't set it: it is yours to decide"
  return rule.may === 'nothing' ? `can't set it: it ${rule.why}` : rule.says
}
