/** What a framework is handed, and what it came to. A driver is all that is known of one framework. */

/** A tool, for all of them the same. Its parameters are an object of strings and numbers. */
export interface NeutralTool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, 'string' | 'number'>>
  readonly execute: (input: Readonly<Record<string, unknown>>) => Promise<string>
}

export interface Task {
  /** Base URL of a server that speaks OpenAI's chat completions. */
  readonly url: string
  readonly prompt: string
  readonly tools: readonly NeutralTool[]
  /** Model requests it may make, by the framework's own limit. */
  readonly requests: number
  /** Milliseconds that a tool may take, by the framework's own limit, where it has one. */
  readonly toolTimeout: number
}

/** @returns the answer. Throws whatever the framework throws. */
export type Driver = (task: Task) => Promise<string>

/** A zod object of a tool's parameters. Each framework is handed the zod that it finds. */
export const objectOf = <T>(
  z: { readonly object: (shape: Record<string, T>) => unknown; readonly string: () => T; readonly number: () => T },
  { parameters }: NeutralTool,
): never => z.object(Object.fromEntries(Object.entries(parameters).map(([name, type]) => [name, z[type]()]))) as never
