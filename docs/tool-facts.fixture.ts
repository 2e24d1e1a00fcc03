/** The part of a tool's section that the tool itself can tell. */
import type { Tool } from '@mulligan/core'

/** The facts of a tool as its page gives them. */
export function factsOf(tool: Tool): string {
  const properties = Object.entries(tool.inputSchema['properties'] as Record<string, Parameter>)
  const required = (tool.inputSchema['required'] ?? []) as readonly string[]
  const code = (name: string): string => `\`${name}\``
  const rows = properties.map(([name, parameter]) => {
    const value = required.includes(name)
      ? 'required'
      : parameter.default === undefined
        ? 'optional'
        : code(JSON.stringify(parameter.default))
    const also = tool.parameterAliases[name]?.map(code).join(', ') ?? ''
    return `| ${code(name)} | ${typeText(parameter)} | ${value} | ${parameter.description ?? ''} | ${also} |`
  })
  const aliases = tool.aliases.map(({ name }) => code(name)).join(', ')
  return [
    `Effect \`${tool.effect}\`, at most ${tool.timeout} s, ${tool.retries} retries. Also called ${aliases}.`,
    '',
    '| parameter | type | default | what it is | also called |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

interface Parameter {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly items?: Parameter
  readonly properties?: Readonly<Record<string, Parameter>>
  readonly default?: unknown
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

function typeText({ type, enum: allowed, items, minimum, maximum, properties, minItems, maxItems }: Parameter): string {
  if (allowed) return allowed.map((one) => `\`${one}\``).join(', ')
  if (items) return `list of ${typeText(items)}${maxItems === undefined ? '' : `, ${minItems ?? 0} to ${maxItems}`}`
  if (properties) return `{ ${Object.keys(properties).join(', ')} }`
  return minimum === undefined ? `${type}` : `${type}, ${minimum} to ${maximum}`
}
