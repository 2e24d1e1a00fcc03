/** The examples in the docs of the AI SDK that give tools to a model, as they are and with the engine added. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAst } from 'vite'

export interface OfficialExample {
  /** Where it stands: the page and the number of its block. */
  readonly name: string
  readonly plain: string
  readonly adopted: string
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
}
type Fields = Node & Readonly<Record<string, unknown>>

/** @param docs the folder `docs` of the package `ai` */
export function officialExamples(docs: string): readonly OfficialExample[] {
  return globSync('**/*.mdx', { cwd: docs })
    .toSorted()
    .flatMap((page) => {
      const blocks = readFileSync(join(docs, page), 'utf8').matchAll(/^([ \t]*)```(?:tsx?|typescript)\b[^\n]*\n([\s\S]*?)^\1```/gm)
      return [...blocks].flatMap(([, indent = '', text = ''], at) => {
        // The docs leave the name of a model to the reader.
        const plain = text
          .replaceAll(new RegExp(`^${indent}`, 'gm'), '')
          .replaceAll('__MODEL__', `'openai/gpt-5.4'`)
          .replaceAll('__PROVIDER_IMPORT__', '')
        const adopted = withEngine(plain)
        return adopted === undefined ? [] : [{ name: `${page.replace(/\.mdx$/, '').replaceAll(/\W+/g, '-')}-${at}`, plain, adopted }]
      })
    })
}

const METHODS: Readonly<Record<string, string>> = { generateText: 'turn', streamText: 'turn', ToolLoopAgent: 'agent' }

/** Adds the engine: `streamText({ tools, …rest })` becomes `streamText(mulligan(tools).turn({ …rest }))`. @returns undefined without tools */
function withEngine(text: string): string | undefined {
  if (!/from ['"]ai['"]/.test(text)) return undefined
  const changes: { readonly from: number; readonly to: number; readonly text: string }[] = []
  for (const node of nodesOf(parsed(text))) {
    const { type, callee, arguments: args } = node
    if (type !== 'CallExpression' && type !== 'NewExpression') continue
    const method = METHODS[String((callee as Fields)['name'])]
    const [settings] = args as readonly Fields[]
    if (method === undefined || settings?.type !== 'ObjectExpression' || changes.some(({ to }) => node.start < to && node.end <= to))
      continue
    const tools = (settings['properties'] as readonly Fields[]).find(({ key }) => (key as Fields | undefined)?.['name'] === 'tools')
    if (!tools) continue
    const { start, end } = tools['value'] as Node
    const comma = /^\s*,/.exec(text.slice(tools.end))?.[0].length ?? 0
    const rest = text.slice(settings.start, tools.start) + text.slice(tools.end + comma, settings.end)
    changes.push({ from: settings.start, to: settings.end, text: `mulligan(${text.slice(start, end)}).${method}(${rest})` })
  }
  if (changes.length === 0) return undefined
  const changed = changes
    .toSorted((a, b) => b.from - a.from)
    .reduce((now, { from, to, text: by }) => now.slice(0, from) + by + now.slice(to), text)
  return `import { mulligan } from '@mulligan/ai-sdk'\n${changed}`
}

/** Blocks that are no whole program have no tree. */
function parsed(text: string): unknown {
  try {
    return parseAst(text, { lang: 'tsx' })
  } catch {
    return undefined
  }
}

/** The outermost calls come first. A call within another's settings is left as it is. */
function* nodesOf(value: unknown): Generator<Fields> {
  if (Array.isArray(value)) for (const one of value) yield* nodesOf(one)
  else if (typeof value === 'object' && value !== null) {
    if ('type' in value) yield value as Fields
    for (const one of Object.values(value)) yield* nodesOf(one)
  }
}
