/**
 * Rules for what a project's file may do with each setting. The file comes with a repository that somebody else may have written, so it
 * must not grant anything that the user has not. Every row in the table of settings has a rule.
 */
import { isLoopbackUrl } from '../models/base-url.ts'
import { isCloud, isProvider, providerEntry } from '../models/registry.ts'
import { OLLAMA_CLOUD } from '../models/servers/server.ts'

/** Returns the user's value for a key in dot notation; undefined if there is none. */
export type Own = (key: string) => unknown

type IsStricter<T> = (theirs: T, mine: T | undefined, own: Own) => boolean
type Refuses = (theirs: unknown) => string | undefined

/**
 * `set`: overrides the user's value. `fallback`: counts if the user has none, or trusts the project. `add`: is added to the user's.
 * `tighten` and `lower`: count if stricter than the user's. `local`: counts if it keeps the conversation on this machine, otherwise after
 * the user's approval. `trusted`: counts after the user's approval. `user`: never; a file that has it is refused.
 */
export type ProjectRule = { readonly says: string } & (
  | { readonly may: 'set' | 'fallback' | 'add' }
  /** `does`: what the value does; follows "which". */
  | { readonly may: 'trusted'; readonly does: string }
  | {
      readonly may: 'lower' | 'tighten'
      readonly isStricter: IsStricter<unknown>
      readonly trustLifts?: true
      readonly refuses?: Refuses
    }
  /** `redirect` returns the host that the value would send the conversation to; undefined for this machine. */
  | { readonly may: 'local'; readonly redirect: (theirs: string) => string | undefined }
  | { readonly may: 'user'; readonly why: string }
)

export const set: ProjectRule = { may: 'set', says: 'may set it' }
export const fallback: ProjectRule = { may: 'fallback', says: 'may choose it if you choose none, or trust the project' }
export const add = (says: string): ProjectRule => ({ may: 'add', says })
export const trusted = (says: string, does: string): ProjectRule => ({ may: 'trusted', says, does })
export const user = (why: string): ProjectRule & { readonly may: 'user' } => ({ may: 'user', says: `can't set it: it ${why}`, why })
export const tighten = <T>(
  isStricter: IsStricter<T>,
  { says = 'may make it tighter', ...more }: { readonly says?: string; readonly trustLifts?: true; readonly refuses?: Refuses } = {},
): ProjectRule => ({ may: 'tighten', says, isStricter: isStricter as IsStricter<unknown>, ...more })
export const lower = (byDefault: number): ProjectRule => ({
  may: 'lower',
  says: 'may lower it',
  isStricter: (theirs, mine) => Number(theirs) < ((mine as number | undefined) ?? byDefault),
})

const local = (redirect: (theirs: string) => string | undefined): ProjectRule => ({
  may: 'local',
  says: 'may choose one on this machine; any other needs your approval (`mulligan trust`)',
  redirect,
})

/** Only a loopback address or `localhost` counts as this machine; other names may resolve elsewhere. */
export const localUrl = local((url) => {
  if (isLoopbackUrl(url)) return undefined
  return URL.canParse(url) ? new URL(url).hostname : url
})

export const localModel = local((model) => {
  if (!isCloud(model)) return undefined
  const provider = model.split('/')[0] ?? ''
  return (isProvider(provider) ? providerEntry(provider).cloud?.host : undefined) ?? OLLAMA_CLOUD
})
