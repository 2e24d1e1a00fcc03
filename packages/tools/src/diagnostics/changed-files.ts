/** Which files a call is about to change, and which it has changed. */
import type { Tool } from '@mulligan/core'
import { normalized } from '../workspace/paths.ts'
import { isRecord } from './record.ts'

export interface ChangedFile {
  readonly path: string
  /** Where it was before. */
  readonly from?: string
}

/** From the data of a result: `path`, or `files` with a `path` each; what was moved has `from`. */
export function changedFiles(data: unknown): ChangedFile[] {
  if (!isRecord(data)) return []
  const entries = [data, ...(Array.isArray(data['files']) ? data['files'].filter(isRecord) : [])]
  const found = entries.flatMap(({ path, from }): ChangedFile[] => {
    if (typeof path !== 'string') return []
    return typeof from === 'string' && from !== path ? [{ path: from }, { path, from }] : [{ path }]
  })
  return [...new Map(found.map((file) => [file.path, file])).values()]
}

/** What the tool names as its targets before anything is done. May name what is no file. */
export function likelyFiles(tool: Tool, input: unknown): string[] {
  return [
    ...new Set(
      targetsOf(tool, input)
        .map(normalized)
        .filter((path) => path !== ''),
    ),
  ]
}

function targetsOf(tool: Tool, input: unknown): readonly string[] {
  try {
    return [tool.target(input as never)].flat()
  } catch {
    return []
  }
}
