/** Converts a Jupyter notebook to text: numbered cells with their type, source and output. Pure. */

/** Longer outputs are cut: they are for viewing, not for editing. */
const OUTPUT_LINES = 40

interface Cell {
  readonly cell_type?: unknown
  readonly execution_count?: unknown
  readonly source?: unknown
  readonly outputs?: unknown
}

/** Returns `undefined` if the text is not a notebook. */
export function notebookText(json: string): string | undefined {
  const notebook = parsed(json)
  const cells = record(notebook)?.['cells']
  if (!Array.isArray(cells)) return undefined
  return cells.map((cell: unknown, at) => cellText(record(cell) ?? {}, at + 1)).join('\n\n')
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function cellText({ cell_type, execution_count, source, outputs }: Cell, number: number): string {
  const ran = typeof execution_count === 'number' ? `, run ${execution_count}` : ''
  const parts = [`[cell ${number}: ${typeof cell_type === 'string' ? cell_type : 'unknown'}${ran}]`, joined(source).replace(/\n$/, '')]
  for (const output of Array.isArray(outputs) ? outputs : []) parts.push(outputText(record(output) ?? {}))
  return parts.filter((part) => part !== '').join('\n')
}

function outputText(output: Readonly<Record<string, unknown>>): string {
  if (output['output_type'] === 'stream') return titled(output['name'] === 'stderr' ? 'stderr' : 'output', joined(output['text']))
  if (output['output_type'] === 'error')
    return titled('error', joined(output['traceback'], '\n') || `${joined(output['ename'])}: ${joined(output['evalue'])}`)
  const data = record(output['data']) ?? {}
  const others = Object.keys(data).filter((type) => !type.startsWith('text/'))
  const named = others.map((type) => `[output: ${type}, not shown]`)
  const text = data['text/plain'] ?? data['text/markdown'] ?? data['text/html']
  return [...(text === undefined ? [] : [titled('output', joined(text))]), ...named].join('\n')
}

function titled(title: string, text: string): string {
  const lines = plain(text).replace(/\n+$/, '').split('\n')
  const left = lines.length - OUTPUT_LINES
  return `[${title}]\n${lines.slice(0, OUTPUT_LINES).join('\n')}${left > 0 ? `\n… [${left} more lines]` : ''}`
}

/** Tracebacks contain terminal colors. */
const plain = (text: string): string => text.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '')

/** Notebooks store texts as a string or as a list of lines. */
const joined = (text: unknown, between = ''): string =>
  typeof text === 'string' ? text : Array.isArray(text) ? text.filter((one) => typeof one === 'string').join(between) : ''

const record = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
