/** Prompts of servers, as slash commands of a person. Pure. */
import { isRecord } from '@mulligan/repair'
import { contentText } from './results.ts'

export interface ListedPrompt {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[] | undefined
}

export interface McpPrompt {
  readonly server: string
  /** The server's own name of it. */
  readonly name: string
  /** What a person types, without the slash: `mcp__SERVER__PROMPT`. */
  readonly command: string
  readonly description: string
  /** Such as `TOPIC [STYLE]`. */
  readonly usage?: string | undefined
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[]
}

export const isListedPrompt = (value: unknown): value is ListedPrompt =>
  isRecord(value) &&
  typeof value['name'] === 'string' &&
  (value['arguments'] === undefined ||
    (Array.isArray(value['arguments']) && value['arguments'].every((one) => isRecord(one) && typeof one['name'] === 'string')))

const MAX_DESCRIPTION = 200

export function promptsOf(server: string, listed: readonly ListedPrompt[]): readonly McpPrompt[] {
  return listed.map(({ name, title, description, arguments: given = [] }) => {
    const args = given.map((one) => ({ name: one.name, required: one.required === true }))
    const usage = args.map((one) => (one.required ? one.name.toUpperCase() : `[${one.name.toUpperCase()}]`)).join(' ')
    return {
      ...{ server, name, arguments: args, command: `mcp__${server}__${name}`.toLowerCase().replace(/[^\w-]+/g, '_') },
      ...{ description: String(description ?? title ?? name).slice(0, MAX_DESCRIPTION), usage: usage === '' ? undefined : usage },
    }
  })
}

/** `name=value`, or a value; either in quotes or without blanks. */
const ARGUMENT = /(?:([\w-]+)=)?(?:"([^"]*)"|'([^']*)'|(\S+))/g

/** Reads what was typed after a command. A single argument, and the last one, take the rest. @throws Error naming what is missing */
export function promptArguments({ command, arguments: wanted, usage }: McpPrompt, typed: string): Record<string, string> {
  const values: Record<string, string> = {}
  const [only, ...others] = wanted
  const isNamed = (name: string | undefined): boolean => wanted.some((one) => one.name === name)
  const words = [...typed.matchAll(ARGUMENT)].map(([whole, name, double, single, bare]) => ({
    whole,
    name,
    value: double ?? single ?? bare ?? '',
  }))
  if (only && others.length === 0 && !words.some(({ name }) => isNamed(name)))
    values[only.name] = words.length === 1 ? (words[0]?.value ?? '') : typed
  else
    for (const { whole, name, value } of words) {
      const free = wanted.find((one) => !(one.name in values))?.name ?? wanted.at(-1)?.name
      if (name !== undefined && isNamed(name)) values[name] = value
      else if (free !== undefined) values[free] = free in values ? `${values[free]} ${whole}` : name === undefined ? value : whole
    }
  const missing = wanted.filter((one) => one.required && (values[one.name] ?? '') === '').map((one) => one.name)
  if (missing.length > 0) throw new Error(`/${command} ${usage ?? ''}: ${missing.join(', ')} is missing`)
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}

/** Characters of a prompt that are sent. */
const MAX_TEXT = 50_000

/** The message that a prompt stands for. */
export function promptText({ server, name }: McpPrompt, { messages }: Readonly<Record<string, unknown>>): string {
  const parts = (Array.isArray(messages) ? messages : []).filter(isRecord).map(({ role, content }) => {
    const text = contentText(Array.isArray(content) ? content : [content])
    return role === 'assistant' ? `Assistant: ${text}` : text
  })
  const text = parts.join('\n\n')
  return `The prompt ${JSON.stringify(name)} of the MCP server ${server}:\n\n${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n[cut here]` : text}`
}
