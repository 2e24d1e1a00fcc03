import { execFile } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { isAll } from '../../../../../scripts/test-scope.fixture.ts'
import { temporary } from '../../workspace.fixture.ts'

const GB = 1024 ** 3
/** Size of the files in bytes. */
const SIZE = isAll ? 2 * GB : GB / 2
/** Node with the tools loaded uses about a third of this. */
const MAX_RSS_KB = 300 * 1024

/** Writes pieces of text at positions of a sparse file. */
function sparse(path: string, size: number, pieces: readonly (readonly [at: number, text: string])[]): void {
  const file = openSync(path, 'w')
  ftruncateSync(file, size)
  for (const [at, text] of pieces) writeSync(file, text, at)
  closeSync(file)
}

const numbered = (count: number, name: string): string => Array.from({ length: count }, (_, at) => `${name} ${at}\n`).join('')

/** Reads in a separate process and returns its peak memory use. */
async function readAlone(root: string, input: object): Promise<{ readonly data: Record<string, unknown>; readonly rss: number }> {
  const src = (path: string) => JSON.stringify(new URL(path, import.meta.url).href)
  const hook = `import { registerHooks } from 'node:module'
    const own = { '@mulligan/core': ${src('../../../../core/src/index.ts')}, '@mulligan/core/executor': ${src('../../../../core/src/executor.ts')}, '@mulligan/repair': ${src('../../../../repair/src/index.ts')} }
    registerHooks({ resolve: (name, context, next) => next(own[name] ?? name, context) })`
  const script = `
    const { createWorkspace } = await import(${src('../../create-workspace.ts')})
    const { readFileTool } = await import(${src('./tool.ts')})
    const tool = readFileTool(createWorkspace(${JSON.stringify(root)}))
    const { value } = await tool.check.check(${JSON.stringify(input)})
    const { data } = await tool.execute(value, { signal: new AbortController().signal })
    console.log(JSON.stringify({ data, rss: process.resourceUsage().maxRSS }))`
  const run = promisify(execFile)(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, '--input-type=module', '--eval', script],
    { cwd: new URL('.', pathToFileURL(import.meta.filename)) },
  )
  return JSON.parse((await run).stdout)
}

test.runIf(process.platform === 'linux')('the middle and the end of a large file, in memory that does not grow with them', async () => {
  const root = temporary()
  sparse(join(root, 'big.log'), SIZE, [
    [0, numbered(1000, 'start')],
    [SIZE / 2, `\n${numbered(1000, 'middle')}`],
    [SIZE - 100, '\nlast but one\nlast\n'],
  ])
  const middle = await readAlone(root, { path: 'big.log', offset: 1501, limit: 3 })
  expect(middle.data).toMatchObject({
    lines: [{ number: 1502, text: 'middle 500' }, { text: 'middle 501' }, { text: 'middle 502' }],
    nextOffset: 1504,
  })
  expect(middle.data).not.toHaveProperty('totalLines')
  const end = await readAlone(root, { path: 'big.log', offset: -3, limit: 2 })
  expect(end.data).toMatchObject({ lines: [{ text: 'last but one' }, { text: 'last' }], nextOffset: 2004 })
  expect(Math.max(middle.rss, end.rss)).toBeLessThan(MAX_RSS_KB)
})

test.runIf(process.platform === 'linux')('one long line', async () => {
  const root = temporary()
  sparse(join(root, 'line.txt'), SIZE, [[0, 'x'.repeat(10_000)]])
  const { data, rss } = await readAlone(root, { path: 'line.txt' })
  expect(data).toMatchObject({ lines: [{ number: 1, text: 'x'.repeat(2000), cut: SIZE - 2000 }], totalLines: 1 })
  expect(rss).toBeLessThan(MAX_RSS_KB)
})
