/** Chooses among several models when nobody is asked. Pure. */
import { HERE, whereRuns } from './base-url.ts'
import type { ServerReport } from './probe.ts'
import { profileOf } from './profiles.ts'
import type { FoundModel } from './servers/server.ts'

export interface Candidate extends FoundModel {
  readonly address: string
  /** "this machine", or the host that gets the conversation. */
  readonly where: string
}

/** The models of the servers that answer, the preferred first. */
export const candidatesOf = (reports: readonly ServerReport[]): readonly Candidate[] =>
  reports
    .flatMap(({ address, models }) => models.map((model) => ({ ...model, address, where: model.passedTo ?? whereRuns(address) })))
    .toSorted(byPreference)

export const isHere = ({ where }: Candidate): boolean => where === HERE

/**
 * On this machine; not known to do without tools; in memory; made for tools, as its server says or its name; the newest. What is
 * alike stays in the order of the servers.
 */
function byPreference(a: Candidate, b: Candidate): number {
  const first = (is: (one: Candidate) => boolean): number => Number(is(b)) - Number(is(a))
  return (
    first(isHere) ||
    first(({ tools }) => tools !== false) ||
    first(({ loaded }) => loaded === true) ||
    first(({ tools, name }) => profileOf(name)?.tools ?? tools === true) ||
    (b.modifiedAt ?? 0) - (a.modifiedAt ?? 0)
  )
}
