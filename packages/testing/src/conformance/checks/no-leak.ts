import { homedir } from 'node:os'
import type { ToolResult } from '@mulligan/core'
import type { Check } from '../check.ts'
import { notRun, verdict } from '../report.ts'
import { callName, isFromFiles, okText } from '../say.ts'
import type { Run } from '../subject.ts'

/** A stack frame of JavaScript or Python. */
const FRAME = /^[ \t]*at .*[( ](?:file:\/\/|node:|\/|[A-Za-z]:[\\/]).*:\d+:\d+\)?[ \t]*$|^[ \t]*File ".+", line \d+/m

/** No stack and no path of this machine in anything a tool says, above all when it goes wrong. */
export const noLeak: Check = {
  name: 'no_leak',
  run: async (subject) => {
    const typed = (await subject.wrongTypes()).map(({ observed }): Run => ({ observed, files: {} }))
    const runs = [...(await subject.examples()), ...(await subject.oddValues()), ...typed]
    if (runs.length === 0) return notRun('nothing to run')
    return verdict(runs.flatMap((run) => leaks(run).map((leak) => `${callName(run)} shows ${leak}`)))
  },
}

function leaks({ observed, files }: Run): string[] {
  const text = wordsOf(observed.record.result)
  const frame = FRAME.exec(text)?.[0]
  const paths = [observed.dir, homedir(), process.cwd()].filter((path) => path.length > 1 && holdsPath(text, path))
  const shown = frame !== undefined && !isFromFiles(frame, files) ? ['a stack'] : []
  // Which path is not repeated: a report is shared.
  return paths.some((path) => !isFromFiles(path, files)) ? [...shown, 'a path of this machine'] : shown
}

/** All that reaches the model, the person or a client as words; of a success its data only where they are read as such. */
function wordsOf(result: ToolResult): string {
  const { display = '', notes = [] } = result
  if (result.ok) return [result.content === undefined ? texts(result.data) : okText(result), display, ...notes].join('\n')
  return [result.error, okText({ content: result.content ?? '', data: null }), texts(result.details), display, ...notes].join('\n')
}

/** The texts in a value, so that a line break in one is a line break here. */
function texts(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value).map(texts).join('\n')
}

/** `/root` is not in `/rooted`. */
const holdsPath = (text: string, path: string): boolean =>
  text.split(path).some((_, at, parts) => at > 0 && !/^\w/.test(parts[at] as string) && !/[\w.~-]$/.test(parts[at - 1] as string))
