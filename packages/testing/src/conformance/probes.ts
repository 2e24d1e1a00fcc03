/** Inputs that are wrong on purpose, made from a right one. */
import { type Tool, validateJson } from '@mulligan/core'

type Input = Readonly<Record<string, unknown>>

export interface TypeProbe {
  readonly parameter: string
  readonly how: 'missing' | 'of a wrong type'
  /** Tried in turn until one is not repaired by the engine on the way. */
  readonly inputs: readonly Input[]
}

const KINDS: readonly unknown[] = [{ unexpected: true }, [{ unexpected: true }], 'unexpected', true, 7.5]

/** The input of the first `ok` example: the call that works. */
export const rightInput = (tool: Tool): Input => tool.examples.find(({ outcome }) => outcome === 'ok')?.input ?? {}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

export const parameters = (tool: Tool): string[] => Object.keys(record(tool.inputSchema['properties']))

/** Every required parameter left out, and given as something it cannot be. */
export function typeProbes(tool: Tool): TypeProbe[] {
  const right = rightInput(tool)
  const required = tool.inputSchema['required']
  const properties = record(tool.inputSchema['properties'])
  if (!Array.isArray(required)) return []
  return required.flatMap((parameter: string): TypeProbe[] => {
    const { [parameter]: _, ...rest } = right
    const wrong = KINDS.filter((kind) => validateJson(record(properties[parameter]), kind, tool.inputSchema).length > 0)
    const missing: TypeProbe = { parameter, how: 'missing', inputs: [rest] }
    if (wrong.length === 0) return [missing]
    return [missing, { parameter, how: 'of a wrong type', inputs: wrong.map((value) => ({ ...right, [parameter]: value })) }]
  })
}

/** Texts of the right type that name nothing, parse as nothing, or cannot be a name. None leads out of a workspace. */
const ODD_TEXTS = ['no-such-thing-7f3a', '[(', '\0']

/** The right input with one text replaced by an odd one. */
export function oddInputs(tool: Tool): Input[] {
  const right = rightInput(tool)
  return Object.keys(right)
    .filter((key) => typeof right[key] === 'string')
    .flatMap((key) => ODD_TEXTS.map((text) => ({ ...right, [key]: text })))
}
