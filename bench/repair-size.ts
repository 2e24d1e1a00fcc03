/** Measures the size of repair, and of a turn with it, in a web page, as a whole and in parts: bundled, minified and gzipped. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'
import { bestProtocols } from './repair-score.ts'
import type { Row, Table } from './table.ts'

const ENTRY = 'virtual:entry'
const REPAIR = "'@mulligan/repair'"
const PARSER = "'@ai-sdk-tool/parser'"

/** Includes the dependencies, which are shipped too. */
async function bundled(code: string): Promise<string> {
  const output = await build({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    plugins: [
      { name: 'entry', enforce: 'pre', resolveId: (id) => (id.endsWith(ENTRY) ? ENTRY : null), load: (id) => (id === ENTRY ? code : null) },
    ],
    build: { write: false, minify: true, target: 'es2024', lib: { entry: ENTRY, formats: ['iife'], name: 'bundle' } },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return (one?.output[0] as Rolldown.OutputChunk).code
}

export async function bench(): Promise<Table> {
  const { overall } = await bestProtocols()
  const entries: Readonly<Record<string, string>> = {
    '`@mulligan/repair`, all of it': `export * from ${REPAIR}`,
    '`parseToolCalls`': `export { parseToolCalls } from ${REPAIR}`,
    '`parseWith([glm], …)`': `
      import { glm, parseWith } from ${REPAIR}
      export const parse = (text, tools) => parseWith([glm], text, tools)`,
    '`repairArguments`': `export { repairArguments } from ${REPAIR}`,
    '`repairFetch`': `export { repairFetch } from ${REPAIR}`,
    '`startTurn` with one API': `export { defineTool, openaiChat, startTurn } from '@mulligan/core'`,
    '`startTurn` with one API and all families': `
      export { defineTool, leakedCalls, openaiChat, startTurn } from '@mulligan/core'
      export { families } from ${REPAIR}`,
    '`createExecutor`': `
      export { createExecutor } from '@mulligan/core/executor'
      export { defineTool, ModelRetry, render } from '@mulligan/core'`,
    '`@ai-sdk-tool/parser`, all of it': `export * from ${PARSER}`,
    [`\`@ai-sdk-tool/parser\`: \`${overall.name}\``]: `export { ${overall.name} } from ${PARSER}`,
    [`\`@ai-sdk-tool/parser\`: \`createToolMiddleware\` and \`${overall.name}\``]: `export { createToolMiddleware, ${overall.name} } from ${PARSER}`,
  }
  const rows: Row[] = []
  for (const [subject, code] of Object.entries(entries)) {
    const script = await bundled(code)
    rows.push({ subject, values: { 'gzipped kB': gzipSync(script).length / 1000, 'minified kB': script.length / 1000 } })
  }
  return {
    title: 'repair-size: the size in a bundle',
    note: 'Minified and gzipped, with dependencies. For the parser, the protocol that parses the most rows correctly.',
    rows,
  }
}
