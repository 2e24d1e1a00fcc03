/** Counters in Prometheus' text format. */
import type { AgentEvent } from '@mulligan/agent'
import type { Runner } from './runner.ts'

export function createMetrics() {
  const turns = new Map<string, number>()
  const calls = new Map<string, number>()
  let evicted = 0
  const add = (map: Map<string, number>, key: string): void => void map.set(key, (map.get(key) ?? 0) + 1)
  const rows = (name: string, type: string, help: string, values: Iterable<readonly [labels: string, value: number]>): string =>
    [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...[...values].map(([labels, value]) => `${name}${labels} ${value}`), ''].join(
      '\n',
    )

  return {
    event: (event: AgentEvent): void => {
      if (event.type === 'turn.ended') add(turns, `{status="${event.outcome.status}"}`)
      else if (event.type === 'tool.result' && !event.late)
        add(calls, `{status="${event.result.ok ? 'ok' : event.result.status}",effect="${event.effect}"}`)
    },
    evicted: (): void => void evicted++,
    text: (counts: ReturnType<Runner['counts']>, pending: number): string =>
      [
        rows('mulligan_turns_total', 'counter', 'Turns that ended, by status.', turns),
        rows('mulligan_calls_total', 'counter', 'Tool calls, by status and effect.', calls),
        rows('mulligan_turns_running', 'gauge', 'Turns that run in this process.', [['', counts.turns]]),
        rows('mulligan_approvals_pending', 'gauge', 'Questions that wait for a person.', [['', pending]]),
        rows('mulligan_event_streams', 'gauge', 'Clients that follow a session.', [['', counts.listeners]]),
        rows('mulligan_event_streams_evicted_total', 'counter', 'Clients that were disconnected because they read too slowly.', [
          ['', evicted],
        ]),
        rows('process_resident_memory_bytes', 'gauge', 'Memory of this process.', [['', process.memoryUsage.rss()]]),
        rows('process_cpu_seconds_total', 'counter', 'CPU time of this process.', [
          ['', process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6],
        ]),
      ].join(''),
  }
}
