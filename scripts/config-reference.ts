/** Generates the JSON Schema of the configuration and the table in docs/configuration.md from the configuration keys. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configJsonSchema } from '../packages/host/src/config/json-schema.ts'
import { type ConfigKey, keysIn, typeText } from '../packages/host/src/config/keys.ts'
import { projectRule } from '../packages/host/src/config/schema.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
export const SCHEMA_FILE = 'packages/cli/mulligan.schema.json'
export const PAGE = 'docs/configuration.md'

const BEGIN = '<!-- keys: written by scripts/config-reference.ts -->'
const END = '<!-- /keys -->'

/** The page with the current table. @throws Error if the page has no place for it */
export function pageWithKeys(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error(`${PAGE} has no place for the table: ${BEGIN} … ${END}`)
  return `${page.slice(0, begin + BEGIN.length)}\n${tableOf(keysIn(configJsonSchema()))}\n${page.slice(end)}`
}

function tableOf(keys: readonly ConfigKey[]): string {
  const code = (text: string): string => `\`${text}\``
  const rows = keys.map(({ key, path, node, variables, flag }) => {
    const sets = [...(flag === undefined ? [] : [flag]), ...variables].map(code).join(', ')
    const type = node.enum ? node.enum.map((one) => code(String(one))).join(', ') : typeText(node)
    return [
      code(key),
      type,
      node.default === undefined ? '' : code(String(node.default)),
      node.description ?? '',
      sets,
      projectRule(path)?.says ?? '',
    ]
  })
  const head = ['key', 'type', 'default', 'what it is', 'flag of `run`, variables', "a project's file"]
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

if (import.meta.main) {
  writeFileSync(`${root}${SCHEMA_FILE}`, `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`)
  writeFileSync(`${root}${PAGE}`, pageWithKeys(readFileSync(`${root}${PAGE}`, 'utf8')))
  spawnSync(process.execPath, [`${root}node_modules/@biomejs/biome/bin/biome`, 'format', '--write', `${root}${SCHEMA_FILE}`], {
    stdio: 'inherit',
  })
}
