/** How far one folder is from another, name by name. */
import { editDistance } from '@mulligan/core'

/** A folder that is wanted and not there; at the start it is likely the root of another machine or project. */
const EXTRA = 0.7
const EXTRA_AT_START = 0.35
/** A folder that is there and was left out. */
const LEFT_OUT = 0.5
/** One folder in place of another. */
const OTHER = 1.1

/** A function of a folder (empty for the root) that says how far it is from `wanted`; 0 for the same. */
export function folderCost(wanted: string): (folder: string) => number {
  const want = steps(wanted)
  const known = new Map<string, number>()
  const stepCost = (a: string, b: string): number => {
    if (a === b) return 0
    const key = `${a}/${b}`
    const cost = known.get(key) ?? nameCost(a, b)
    known.set(key, cost)
    return cost
  }
  return (folder) => {
    const have = steps(folder)
    let last = Array.from({ length: have.length + 1 }, (_, at) => at * LEFT_OUT)
    want.forEach((name, i) => {
      const extra = last[0] === EXTRA_AT_START * i ? EXTRA_AT_START : EXTRA
      const row = [(last[0] as number) + extra]
      have.forEach((other, j) => {
        const skipped = (last[j + 1] as number) + EXTRA
        const leftOut = (row[j] as number) + LEFT_OUT
        row.push(Math.min(skipped, leftOut, (last[j] as number) + stepCost(name, other)))
      })
      last = row
    })
    return last[have.length] as number
  }
}

const steps = (folder: string): string[] => (folder === '' ? [] : folder.split('/'))

/** Case and separators count for little, one slip for more. */
function nameCost(a: string, b: string): number {
  const [x, y] = [plain(a), plain(b)]
  if (x === y) return 0.1
  const most = Math.max(x.length, y.length)
  if (Math.abs(x.length - y.length) > 3 || most > 100) return OTHER
  const distance = editDistance(x, y)
  return distance <= Math.max(1, Math.floor(most / 3)) && distance < Math.min(x.length, y.length) ? 0.2 + 0.15 * distance : OTHER
}

const plain = (name: string): string => name.toLowerCase().replace(/[\s_.-]+/g, '')
