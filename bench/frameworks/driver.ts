/** The input and the outcome of a framework's run. A driver contains all the code for one framework. */

/** A tool, the same for all frameworks. Its parameters are an object of strings and numbers. */
export interface NeutralTool {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, 'string' | 'number'>>
  /** @param signal is aborted when the framework gives up waiting */
  readonly execute: (input: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<string>
}

export interface Task {
  /** Base URL of a server with OpenAI's chat completions API. */
  readonly url: string
  readonly prompt: string
  readonly tools: readonly NeutralTool[]
  /** Maximum number of model requests, set as the framework's own limit. */
  readonly requests: number
  /** Milliseconds that a tool may take, set as the framework's own limit if it has one. */
  readonly toolTimeout: number
  /** Milliseconds that a run may take, set as the framework's own limit if its recommended settings have one. */
  readonly runTimeout: number
}

/** @returns the answer. @throws whatever the framework throws */
export type Driver = (task: Task) => Promise<string>

/** What the module of a driver exports: the framework as its documentation begins, and with the settings that it recommends. */
export interface Drivers {
  readonly run: Driver
  readonly recommended?: Driver
}

/** A zod object for the parameters of a tool. Each framework gets the zod version that it resolves. */
export const objectOf = <T>(
  z: { readonly object: (shape: Record<string, T>) => unknown; readonly string: () => T; readonly number: () => T },
  { parameters }: NeutralTool,
): never => z.object(Object.fromEntries(Object.entries(parameters).map(([name, type]) => [name, z[type]()]))) as never
