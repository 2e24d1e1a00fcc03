/** Which hidden tools a session has come to know: from the records of its calls, so the next process knows it too. */
import type { CallRecord, Tool } from '@mulligan/core'
import { tokensOf } from './budget.ts'
import { foundNames } from './find-tools.ts'

/**
 * The hidden tools that were found or called, in the order of that. They stay: what a request begins with stands in the
 * next one too. Schemas of more than `budget` tokens in all are left out; those tools can still be called.
 */
export function foundTools(
  hidden: readonly Tool[],
  records: readonly CallRecord[],
  budget: number,
  before: readonly Tool[] = [],
): readonly Tool[] {
  const found = [...before]
  for (const record of records)
    for (const name of [...foundNames(record), record.tool]) {
      const tool = hidden.find((one) => one.name === name)
      if (tool && !found.includes(tool) && tokensOf([...found, tool]) <= budget) found.push(tool)
    }
  return found
}
