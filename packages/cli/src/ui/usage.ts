/**
 * What a session has used, by model: requests, tokens, and their cost where prices are known. Tasks of other agents are part of the turn that
 * gave them, and run with its model.
 */
import { addUsage, costOf, type Store, type Usage } from '@mulligan/agent'
import { oneLine } from '@mulligan/host/light'
import { pricesOf, type Settings } from '@mulligan/host/parts'
import { plural, table, thousands } from './text.ts'

export interface ModelUsage {
  /** `PROVIDER/NAME`. */
  readonly model: string
  readonly turns: number
  readonly requests: number
  readonly usage: Usage
  /** In the currency of the configured prices; undefined if the model's prices are not known. */
  readonly cost?: number
}

const NONE: Usage = { inputTokens: 0, outputTokens: 0 }

/** @returns a row for each model, in the order of their first turns. Turns that have not ended are left out */
export async function sessionUsage(store: Store, sessionId: string, settings: Settings['models']): Promise<readonly ModelUsage[]> {
  const events = await store.events({ sessionId })
  const models = new Map(events.flatMap((event) => (event.type === 'turn.started' ? [[event.turnId, event.model] as const] : [])))
  const found = new Map<string, ModelUsage>()
  for (const event of events) {
    if (event.type !== 'turn.ended') continue
    const model = models.get(event.turnId) ?? 'unknown'
    const { turns, requests, usage } = found.get(model) ?? { turns: 0, requests: 0, usage: NONE }
    const sum = addUsage(usage, event.outcome.usage)
    const prices = pricesOf(model, settings)
    found.set(model, {
      ...{ model, turns: turns + 1, requests: requests + event.outcome.requests, usage: sum },
      ...(prices && { cost: costOf(sum, prices) }),
    })
  }
  return [...found.values()]
}

/** Returns the sum of the rows. The cost is of the models whose prices are known; undefined if there are none. */
export function totalOf(rows: readonly ModelUsage[]): ModelUsage {
  const sum = (of: (row: ModelUsage) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const isPriced = rows.some(({ cost }) => cost !== undefined)
  return {
    ...{ model: 'total', turns: sum(({ turns }) => turns), requests: sum(({ requests }) => requests) },
    usage: rows.reduce((total, { usage }) => addUsage(total, usage), NONE),
    ...(isPriced && { cost: sum(({ cost = 0 }) => cost) }),
  }
}

/** Says in one line what was used. */
export function usageText(rows: readonly ModelUsage[]): string {
  const { requests, usage, cost } = totalOf(rows)
  const { inputTokens, outputTokens, cachedTokens } = usage
  const cached = cachedTokens === undefined ? '' : ` (${thousands(cachedTokens)} cached)`
  const tokens = `${thousands(inputTokens)} tokens in${cached}, ${thousands(outputTokens)} out`
  return `${plural(requests, 'request')}, ${tokens}${cost === undefined ? '' : `, cost ${costText(cost)}`}`
}

/** Formats a cost: four decimal places below 1, otherwise two. */
export const costText = (cost: number): string => cost.toFixed(cost < 1 ? 4 : 2)

/** Returns the lines of a table, its head first. Columns without values are left out. */
export function usageLines(rows: readonly ModelUsage[]): readonly string[] {
  const all = rows.length > 1 ? [...rows, totalOf(rows)] : rows
  const columns: readonly (readonly [head: string, cell: (row: ModelUsage) => string, isShown: boolean])[] = [
    ['MODEL', ({ model }) => oneLine(model, 80), true],
    ['TURNS', ({ turns }) => thousands(turns), true],
    ['REQUESTS', ({ requests }) => thousands(requests), true],
    ['TOKENS IN', ({ usage }) => thousands(usage.inputTokens), true],
    ['OF THEM CACHED', ({ usage }) => thousands(usage.cachedTokens ?? 0), rows.some(({ usage }) => usage.cachedTokens !== undefined)],
    ['TOKENS OUT', ({ usage }) => thousands(usage.outputTokens), true],
    ['COST', ({ cost }) => (cost === undefined ? 'not known' : costText(cost)), rows.some(({ cost }) => cost !== undefined)],
  ]
  const shown = columns.filter(([, , isShown]) => isShown)
  return table([shown.map(([head]) => head), ...all.map((row) => shown.map(([, cell]) => cell(row)))])
}
