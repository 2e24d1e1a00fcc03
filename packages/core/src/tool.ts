/** What a tool is, and {@link defineTool}, which checks a definition once so that a call has nothing left to check. */
import { type Effect, type JsonSchema, levelFor, nearest, type RepairLevel } from '@mulligan/repair'
import type { Confinement, LayerUse, ProposedChanges } from './layer.ts'
import type { SuggestedCall } from './result.ts'
import { checker, type SchemaCheck, type ToolSchema } from './schema/schema.ts'

export type { Effect }

/** What a running tool is handed besides its input. */
export interface ToolContext {
  /** Aborted on timeout and when the turn is cancelled; its `reason` says which. Pass it on to whatever you start. */
  readonly signal: AbortSignal
  /** The engine's identity of this call: session/turn/step/ordinal. */
  readonly callId: string
  /** The same for every attempt of this call, different for every other call. Hand it to services that take one. */
  readonly idempotencyKey: string
  /** 1 for the first execution; more after transient faults. */
  readonly attempt: number
  /** Tells the person how far a long call has come. Shown, never sent to the model. */
  readonly progress: (message: string) => void
  /** Secret files that this call may open: what `secrets` of its tool named and the person approved. Absent: none. */
  readonly secrets?: readonly string[]
  /** How this call may run, of a tool with a `layer`. Absent: `direct`. */
  readonly confinement?: Confinement
  /** Of a call that runs on a layer: what it did there, before it returns or throws. Without it, nothing. */
  readonly propose?: (changes: ProposedChanges) => void
}

/** Another name under which models ask for this tool; `adapt` turns the other shape of input into ours. */
export type ToolAlias = string | { readonly name: string; readonly adapt?: (input: Record<string, unknown>) => Record<string, unknown> }

/** One call per outcome, run by the conformance suite; the model may be shown it. */
export interface ToolExample {
  readonly outcome: 'ok' | 'empty' | 'retry' | 'failed'
  readonly input: Readonly<Record<string, unknown>>
  /** Workspace files the example needs (path → text). A tool without a workspace leaves it out. */
  readonly files?: Readonly<Record<string, string>>
  /** Calls of the session that come before: of a tool that continues what another has begun. */
  readonly first?: readonly SuggestedCall[]
  /** One line for the reader of `tools show`. */
  readonly why?: string
}

/** What the author of a tool writes. */
export interface ToolDefinition<Input = unknown, Output = unknown> {
  /** `^[a-zA-Z0-9_-]{1,64}$`. */
  readonly name: string
  /** What the model reads of the tool. */
  readonly description: string
  /** Zod, any Standard Schema that gives its JSON Schema, or a raw JSON Schema of type `object`. */
  readonly input: ToolSchema<Input>
  /** Default `external`: asks before it runs. */
  readonly effect?: Effect
  /** Seconds until the call is cut off. Default 60; at most 3600. */
  readonly timeout?: number
  /** How often the model may try again after a first wrong call. Default 3, for `external` 1 (at most 2). */
  readonly retries?: number
  /** Other names of the tool. */
  readonly aliases?: readonly ToolAlias[]
  /** Other names of its parameters: `{ path: ['file_path', 'file'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** Parameters that models add out of habit and that say nothing here, such as `explanation`: they are dropped, at no retry. Default: none. */
  readonly ignoredParameters?: readonly string[]
  /**
   * How far a wrong call is repaired before the model is asked again: `safe` changes no text that the model wrote, `full` does
   * where the result fits the schema, `off` takes the arguments as they came. Default `full` for reads, otherwise `safe`.
   */
  readonly repair?: RepairLevel
  readonly examples?: readonly ToolExample[]
  /**
   * What the call acts on, for policies, denials, the ledger and the person: a path, a channel, or several, each of which a
   * policy must allow. Default: the whole input.
   */
  readonly target?: (input: Input) => string | readonly string[]
  /**
   * Which calls of this tool need a person while one of its calls is `indeterminate`: `target`, those that share a target with
   * it; `tool`, every call with effects, for a tool whose targets do not tell whether a call repeats another, such as a shell.
   * Default: `target` where the tool has a `target`, otherwise `tool`.
   */
  readonly indeterminateScope?: 'target' | 'tool'
  /** Of a call that does less than the tool can, such as a command that only reads. Never more. Default: `effect`. */
  readonly effectOf?: (input: Input) => Effect
  /** What a person's no to one of the targets is remembered by, where that is more than its name. Default: the target. */
  readonly denialKeys?: (input: Input, target: string) => readonly string[]
  /** What the call would change, as a unified diff, for the person who is asked about it. Changes nothing. Default: its input is shown. */
  readonly preview?: (input: Input) => string | undefined | Promise<string | undefined>
  /** The service behind it, which may depend on the input (a host): calls of one service share a circuit breaker. Default: the tool's name. */
  readonly service?: string | ((input: Input) => string)
  /** The service takes `ctx.idempotencyKey`, so a transient fault of an effect may be tried again. Default false. */
  readonly idempotent?: boolean
  /** Meant to be called again with the same input until its answer changes: the loop guard leaves it alone. */
  readonly polls?: boolean
  /** A returned string that begins "Error:" is a failure, not data. Default false. */
  readonly errorStrings?: boolean
  /** Works outside the machine's trust: what it returns is untrusted content (web, mail). Default false. */
  readonly untrusted?: boolean
  /**
   * What a read sends out of the machine in its `target`. An `address` may carry data in its text; it is `external` once the session has
   * read anything of the workspace, unless a person or a result gave it verbatim. A `query` is so once a secret file was read. Default: an address of a read that is `untrusted`, otherwise nothing.
   */
  readonly sends?: 'address' | 'query'
  /** What it returns may come from the workspace. Default true; false for what cannot see it, such as the web. */
  readonly readsWorkspace?: boolean
  /** Secret files (keys, passwords) that the call would open: a person is asked first, `--yes` notwithstanding. Default: none. */
  readonly secrets?: (input: Input) => readonly string[] | Promise<readonly string[]>
  /** Of a tool that can run on a throwaway layer: it hands what it did there to `ctx.propose`. */
  readonly layer?: LayerUse<Input>
  /**
   * Changes files of the workspace and nothing else, each recorded so that it can be taken back. The mode `auto-edit` allows it.
   * Default false.
   */
  readonly edits?: boolean
  /** Where not all tools fit into a request, those of the highest priority are sent; the others can be found. Default 0. */
  readonly priority?: number
  /**
   * What a digest of the conversation keeps of its calls. `notes`: their input, as the model's own words. `latest`: the latest result,
   * whole, which replaces those before. Default: what scores high in their input and results.
   */
  readonly digest?: 'notes' | 'latest'
  /** What a person is shown of a call where it says more than the target, such as the pattern of a search. Default: the target. */
  readonly subject?: (input: Input) => string
  /** Returns data or a `ToolResult`; throws `ModelRetry`, `ToolFailure` or `TransientError`. */
  readonly execute: (input: Input, ctx: ToolContext) => Output | Promise<Output>
}

/** A checked tool, as the executor and toolsets take it. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** Sent to the model. */
  readonly inputSchema: JsonSchema
  readonly effect: Effect
  /** Seconds. */
  readonly timeout: number
  readonly retries: number
  readonly aliases: readonly { readonly name: string; readonly adapt?: (input: Record<string, unknown>) => Record<string, unknown> }[]
  readonly parameterAliases: Readonly<Record<string, readonly string[]>>
  readonly ignoredParameters: readonly string[]
  readonly repair: RepairLevel
  readonly examples: readonly ToolExample[]
  readonly service: string | ((input: never) => string)
  readonly idempotent: boolean
  readonly polls: boolean
  readonly errorStrings: boolean
  readonly untrusted: boolean
  readonly sends?: 'address' | 'query'
  readonly readsWorkspace: boolean
  readonly secrets?: (input: never) => readonly string[] | Promise<readonly string[]>
  readonly check: SchemaCheck
  readonly target: (input: never) => string | readonly string[]
  readonly indeterminateScope: 'target' | 'tool'
  readonly effectOf?: (input: never) => Effect
  readonly denialKeys?: (input: never, target: string) => readonly string[]
  readonly preview?: (input: never) => string | undefined | Promise<string | undefined>
  readonly layer?: LayerUse
  readonly edits: boolean
  readonly priority: number
  readonly digest?: 'notes' | 'latest'
  readonly subject?: (input: never) => string
  readonly execute: (input: never, ctx: ToolContext) => unknown
}

/** Seconds a call may take when its tool says nothing. */
export const DEFAULT_TIMEOUT = 60
const MAX_TIMEOUT = 3600
const MAX_EXTERNAL_RETRIES = 2
/** What every provider takes as a tool's name. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** How often a model may try again, by effect, when the tool says nothing. */
export const DEFAULT_RETRIES: Readonly<Record<Effect, number>> = { read: 3, write: 3, external: 1 }

/**
 * Checks a definition and fills its defaults.
 *
 * @throws TypeError that names the field: a bad name, a schema that is not an object, a timeout in milliseconds.
 * @example
 * const add = defineTool({
 *   name: 'add', description: 'Adds two numbers.', effect: 'read',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * })
 */
export function defineTool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool {
  const {
    name,
    description,
    input,
    execute,
    effect = 'external',
    timeout = DEFAULT_TIMEOUT,
    retries = DEFAULT_RETRIES[effect],
    aliases = [],
    parameterAliases = {},
    ignoredParameters = [],
    repair = levelFor(effect),
    examples = [],
    target = JSON.stringify,
    indeterminateScope = definition.target ? 'target' : 'tool',
    effectOf,
    denialKeys,
    preview,
    service = name,
    idempotent = false,
    polls = false,
    errorStrings = false,
    untrusted = false,
    sends = untrusted && effect === 'read' ? 'address' : undefined,
    readsWorkspace = true,
    secrets,
    layer,
    edits = false,
    priority = 0,
    digest,
    subject,
    ...unknown
  } = definition
  const rest = {
    timeout,
    retries,
    parameterAliases,
    ignoredParameters,
    repair,
    examples,
    target,
    indeterminateScope,
    service,
    idempotent,
    polls,
    errorStrings,
    untrusted,
    readsWorkspace,
    edits,
    priority,
  }
  const optional = {
    ...(effectOf && { effectOf }),
    ...(denialKeys && { denialKeys }),
    ...(preview && { preview }),
    ...(sends && { sends }),
    ...(secrets && { secrets }),
    ...(layer && { layer }),
    ...(digest && { digest }),
    ...(subject && { subject }),
  }
  const fields = { name, description, effect, aliases, execute, ...rest, ...optional }
  const fail = (what: string): never => {
    throw new TypeError(`defineTool(${JSON.stringify(name)}): ${what}`)
  }
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) fail(`name must match ${TOOL_NAME.source}`)
  if (typeof description !== 'string' || description.trim() === '') fail('description is missing')
  if (typeof execute !== 'function') fail('execute must be a function')
  if (!Object.hasOwn(DEFAULT_RETRIES, effect)) fail(`effect must be read, write or external, not ${JSON.stringify(effect)}`)
  // A misspelt `effect` would otherwise be an undeclared one.
  for (const field of Object.keys(unknown)) {
    const [meant] = nearest(field, [
      ...Object.keys(fields),
      'input',
      'effectOf',
      'denialKeys',
      'preview',
      'sends',
      'secrets',
      'layer',
      'digest',
      'subject',
    ])
    fail(`there is no field ${JSON.stringify(field)}${meant ? `; did you mean ${meant}?` : ''}`)
  }
  if (!['off', 'safe', 'full'].includes(repair)) fail(`repair must be off, safe or full, not ${JSON.stringify(repair)}`)
  if (indeterminateScope !== 'target' && indeterminateScope !== 'tool')
    fail(`indeterminateScope must be target or tool, not ${JSON.stringify(indeterminateScope)}`)
  if (!(timeout > 0 && timeout <= MAX_TIMEOUT))
    fail(
      `timeout is in seconds, up to ${MAX_TIMEOUT}; ${timeout} ${timeout > MAX_TIMEOUT ? `looks like milliseconds: use ${timeout / 1000}` : 'is not positive'}`,
    )
  if (!Number.isInteger(retries) || retries < 0) fail(`retries must be a whole number from 0, not ${retries}`)
  if (effect === 'external' && retries > MAX_EXTERNAL_RETRIES) fail(`an external tool may have at most ${MAX_EXTERNAL_RETRIES} retries`)
  let check: SchemaCheck
  try {
    check = checker(input)
  } catch (error) {
    return fail(`input: ${(error as Error).message}`)
  }
  return {
    ...fields,
    description: description.trim(),
    inputSchema: check.jsonSchema,
    aliases: aliases.map((alias) => (typeof alias === 'string' ? { name: alias } : alias)),
    check,
  }
}
