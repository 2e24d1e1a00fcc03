/** Converts unified diffs into the protocol's diffs, one for each hunk. */
import { join } from 'node:path'
import type { ToolCallContent } from '@agentclientprotocol/sdk'
import { parsePatch } from 'diff'

const NONE = '/dev/null'
/** Characters of a diff that is shown in this way. A longer one is shown as text. */
const MAX_DIFF = 2_000_000

/** Returns no diffs if the text can't be read as one, such as that of a change that is too large to show. */
export function diffContent(diff: string, cwd: string): ToolCallContent[] {
  if (diff.length > MAX_DIFF) return []
  try {
    return parsePatch(diff).flatMap(({ oldFileName = NONE, newFileName = NONE, hunks }) => {
      const path = join(cwd, plain(newFileName === NONE ? oldFileName : newFileName))
      return hunks.map(({ lines }): ToolCallContent => {
        const created = oldFileName === NONE
        return { type: 'diff', path, oldText: created ? null : sideOf(lines, '-'), newText: sideOf(lines, '+') }
      })
    })
  } catch {
    return []
  }
}

/** Removes the prefixes of git. */
const plain = (name: string): string => name.replace(/^[ab]\//, '')

/** Returns the lines of one side of a hunk. */
function sideOf(lines: readonly string[], sign: '-' | '+'): string {
  const mine: string[] = []
  let isLast = false
  for (const line of lines) {
    if (line.startsWith('\\')) isLast = true
    else if (line.startsWith(' ') || line.startsWith(sign)) {
      isLast = false
      mine.push(line.slice(1))
    }
  }
  return mine.length === 0 ? '' : `${mine.join('\n')}${isLast ? '' : '\n'}`
}
