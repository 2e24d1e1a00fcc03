/** What became of turns that were killed, judged by what is outside of them. */
import type { AgentEvent, Store } from '@mulligan/agent'
import type { CallRecord } from '@mulligan/core'
import { CALLS, type Outside } from './outside.fixture.ts'

/** What became of a turn. */
export interface Fate {
  /** The last event that was stored before the kill; undefined if the turn had ended, or was not killed. */
  readonly instant?: string | undefined
  /** Writes that were reported as cut off. */
  readonly reported: number
  /** Writes that took place twice. */
  readonly doubled: number
  /** What must not be. */
  readonly problems: readonly string[]
}

/** When a server died, and what was outside then. */
export interface Death {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly asked: ReadonlyMap<string, number>
  readonly done: ReadonlyMap<string, number>
}

export const deathOf = ({ asked, done }: Outside, at: number): Death => ({ at, asked: new Map(asked), done: new Map(done) })

/** A turn that has ended, with the store in which it is. */
interface Ended {
  readonly opened: Store
  readonly id: string
  readonly status: string
  /** Undefined if it was not killed. */
  readonly death: Death | undefined
}

export function createJudge(world: Outside) {
  async function judge({ opened, id, status, death }: Ended): Promise<Fate> {
    const events = await opened.events({ sessionId: id })
    const records = (await opened.history(id)).flatMap((message) => (message.role === 'results' ? message.records : []))
    const turns = await opened.turns(id)
    const before = death ? events.filter(({ at }) => at <= death.at) : events
    const problems = [
      ...(status === 'answered' ? [] : [`the turn is ${status}`]),
      ...(turns.length === 1 ? [] : [`there are ${turns.length} turns`]),
      ...problemsOf(id, records, events),
      ...(death ? repeated(id, before, death) : []),
    ]
    const doubled = records.filter((record) => record.effect !== 'read' && (world.done.get(record.id) ?? 0) > 1).length
    const instant = before.some(({ type }) => type === 'turn.ended') ? undefined : nameOf(before.at(-1))
    return { instant, reported: records.filter(isUnknown).length, doubled, problems }
  }
  function problemsOf(id: string, records: readonly CallRecord[], events: readonly AgentEvent[]): readonly string[] {
    const ended = events.find((event) => event.type === 'turn.ended')
    const told = ended?.type === 'turn.ended' ? ended.outcome.ledger.unknown.map(({ callId }) => callId) : []
    const calls = records.filter((record) => record.id.startsWith(`${id}/1/`))
    const problems = calls.length === CALLS ? [] : [`${calls.length} calls have a result`]
    for (const record of calls) {
      const times = world.done.get(record.id) ?? 0
      const what = `${record.tool} ${record.target}`
      const results = events.filter((event) => event.type === 'tool.result' && event.callId === record.id && !event.late).length
      if (results !== 1) problems.push(`${what} has ${results} results`)
      if (record.effect === 'read') continue
      if (times > 1) problems.push(`${what} took place ${times} times`)
      if (isUnknown(record) !== told.includes(record.id)) problems.push(`${what} is not told in the ledger as it is recorded`)
      if (!isUnknown(record) && record.result.ok !== times > 0)
        problems.push(`${what} took place ${times} times and was reported as it did not`)
    }
    return problems
  }

  /** Finds steps that were finished when the server died, and were done again. */
  function repeated(id: string, before: readonly AgentEvent[], death: Death): readonly string[] {
    const since = (now: ReadonlyMap<string, number>, then: ReadonlyMap<string, number> | undefined, key: string): number =>
      (now.get(key) ?? 0) - (then?.get(key) ?? 0)
    return before.flatMap((event) => {
      if (event.type === 'message.completed' && since(world.asked, death.asked, `${id} ${event.step}`) > 0)
        return [`reply ${event.step} was finished and requested again`]
      if (event.type === 'tool.result' && since(world.done, death.done, event.callId) > 0)
        return [`${event.tool} was finished and run again`]
      return []
    })
  }

  return judge
}

const isUnknown = ({ result }: CallRecord): boolean => !result.ok && result.status === 'indeterminate'

function nameOf(event: AgentEvent | undefined): string {
  if (!event) return 'nothing'
  return 'tool' in event ? `${event.type} ${event.tool}` : event.type
}
