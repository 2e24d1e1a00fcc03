/** Defines tools. {@link defineTool} checks a definition once, so that calls need no further checks. */
import { type Effect, type JsonSchema, levelFor, nearest, type RepairLevel } from '@mulligan/repair'
import type { Confinement, LayerUse, ProposedChanges } from './layer.ts'
import type { SuggestedCall } from './result.ts'
import { checker, type SchemaCheck, type ToolSchema } from './schema/schema.ts'

export type { Effect }

/** How much of an unexpected exception the model reads. */
export type ErrorDisclosure = 'message' | 'class'

/** The context passed to a running tool along with its input. */
export interface ToolContext {
  /** Aborted on timeout and when the turn is cancelled; its `reason` says which. Pass it on to everything you start. */
  readonly signal: AbortSignal
  /** The engine's id for this call: session/turn/step/ordinal. */
  readonly callId: string
  /** The same for every attempt of this call and different for every other call. Pass it to services that accept one. */
  readonly idempotencyKey: string
  /** 1 for the first execution; higher after transient faults and after a restart. */
  readonly attempt: number
  /** Reports the progress of a long call to the person. Never sent to the model. */
  readonly progress: (message: string) => void
  /** Secret files this call may open: those named by its tool's `secrets` and approved by the person. Absent: none. */
  readonly secrets?: readonly string[]
  /** How this call is confined, for tools with a `layer`. Absent: `direct`. */
  readonly confinement?: Confinement
  /** For calls on a layer: reports the changes before the tool returns or throws. If it is not called, there are no changes. */
  readonly propose?: (changes: ProposedChanges) => void
}

/** Another name by which models call this tool; `adapt` converts the input that goes with it. */
export type ToolAlias = string | { readonly name: string; readonly adapt?: (input: Record<string, unknown>) => Record<string, unknown> }

/** An example call, one per outcome. The conformance suite runs it, and it may be shown to the model. */
export interface ToolExample {
  readonly outcome: 'ok' | 'empty' | 'retry' | 'failed'
  readonly input: Readonly<Record<string, unknown>>
  /** Workspace files the example needs (path → text). Omitted for tools without a workspace. */
  readonly files?: Readonly<Record<string, string>>
  /** Calls made earlier in the session, for a tool that continues what another has started. */
  readonly first?: readonly SuggestedCall[]
  /** One-line explanation, shown by `tools show`. */
  readonly why?: string
}

/** A tool definition, as its author writes it. */
export interface ToolDefinition<Input = unknown, Output = unknown> {
  /** The tool's name: `^[a-zA-Z0-9_-]{1,64}$`. */
  readonly name: string
  /** The description the model reads. */
  readonly description: string
  /** The input schema: Zod, any Standard Schema that provides its JSON Schema, or a raw JSON Schema of type `object`. */
  readonly input: ToolSchema<Input>
  /** The tool's effect. Default `external`, which asks before it runs. */
  readonly effect?: Effect
  /** Timeout in seconds. Default 60; at most 3600. */
  readonly timeout?: number
  /** How often the model may retry after a wrong call. Default 3; for `external` 1 (at most 2). */
  readonly retries?: number
  /** Other names for the tool. */
  readonly aliases?: readonly ToolAlias[]
  /** Other names for its parameters: `{ path: ['file_path', 'file'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /**
   * Parameters that models add out of habit and that mean nothing here, such as `explanation`. They are dropped without using up a
   * retry. Default: none.
   */
  readonly ignoredParameters?: readonly string[]
  /**
   * How much of a wrong call is repaired before the model is asked again. `safe` never changes text the model wrote, `full` may if the
   * result fits the schema, and `off` uses the arguments unchanged. Default: `full` for reads, otherwise `safe`.
   */
  readonly repair?: RepairLevel
  readonly examples?: readonly ToolExample[]
  /**
   * Returns the call's target for policies, denials, the ledger and the person: a path, a channel, or several, each of which a policy
   * must allow. Default: the whole input.
   */
  readonly target?: (input: Input) => string | readonly string[]
  /**
   * Which calls of this tool need a person's approval while one of its calls is `indeterminate`. `target`: calls that share a target
   * with it. `tool`: every call with effects, for tools such as a shell whose targets do not show whether a call repeats another.
   * Default: `target` if the tool has a `target`, otherwise `tool`.
   */
  readonly indeterminateScope?: 'target' | 'tool'
  /**
   * Returns the effect of a call that does less than the tool can, such as a command that only reads. It can only lower the effect.
   * Default: `effect`.
   */
  readonly effectOf?: (input: Input) => Effect
  /** Returns the keys by which a person's denial of a target is remembered, if they are more than its name. Default: the target. */
  readonly denialKeys?: (input: Input, target: string) => readonly string[]
  /** Returns what the call would change as a unified diff, for the person who is asked. Changes nothing. Default: the input is shown. */
  readonly preview?: (input: Input) => string | undefined | Promise<string | undefined>
  /**
   * The service behind the tool, possibly depending on the input (e.g. a host). Calls to one service share a circuit breaker. Default:
   * the tool's name.
   */
  readonly service?: string | ((input: Input) => string)
  /**
   * Whether running a call again is safe: the service accepts `ctx.idempotencyKey`, or, if `ctx.attempt` is above 1, the tool first asks
   * the service whether the earlier attempt took effect. Such calls are retried after a transient fault and, if the process ended while
   * they ran, when the turn is resumed. Default false.
   */
  readonly idempotent?: boolean
  /** Whether the tool is meant to be called repeatedly with the same input until its answer changes. The loop guard ignores it. */
  readonly polls?: boolean
  /** Whether a returned string that begins with "Error:" is a failure and not data. Default false. */
  readonly errorStrings?: boolean
  /**
   * What the model reads of an unexpected exception. `message`: its message, without secrets, stacks and paths outside the working folder,
   * at most 1,000 characters. `class`: only its class, for tools whose code or service is not your own. Default: that of the turn, or
   * else `class` for tools that are `untrusted`, otherwise `message`.
   */
  readonly errors?: ErrorDisclosure
  /** Whether its results are untrusted content from outside the machine (web, mail). Default false. */
  readonly untrusted?: boolean
  /**
   * What a read sends out of the machine in its `target`. An `address` may carry data in its text: it becomes `external` once the
   * session has read anything from the workspace, unless a person or a result gave it verbatim. A `query` becomes `external` once a
   * secret file was read. Default: `address` for reads that are `untrusted`, otherwise nothing.
   */
  readonly sends?: 'address' | 'query'
  /**
   * Whether its results may contain workspace content. Default true; set it to false for tools that cannot see the workspace, such as
   * the web.
   */
  readonly readsWorkspace?: boolean
  /** Returns the secret files (keys, passwords) the call would open. A person is asked first, even with `--yes`. Default: none. */
  readonly secrets?: (input: Input) => readonly string[] | Promise<readonly string[]>
  /** For tools that can run on a throwaway layer: they report their changes through `ctx.propose`. */
  readonly layer?: LayerUse<Input>
  /**
   * Whether the tool changes only files in the workspace, each change recorded so that it can be undone. The mode `auto-edit` allows
   * it. Default false.
   */
  readonly edits?: boolean
  /** If not all tools fit into a request, those with the highest priority are sent; the others can be found. Default 0. */
  readonly priority?: number
  /**
   * What a digest of the conversation keeps of its calls. `notes`: their input, as the model's own words. `latest`: the latest result
   * in full, replacing earlier ones. Default: whatever scores high in their inputs and results.
   */
  readonly digest?: 'notes' | 'latest'
  /** Returns the text shown to the person for a call, if it says more than the target, such as a search pattern. Default: the target. */
  readonly subject?: (input: Input) => string
  /** Runs the tool. Returns data or a `ToolResult`; throws `ModelRetry`, `ToolFailure` or `TransientError`. */
  readonly execute: (input: Input, ctx: ToolContext) => Output | Promise<Output>
}

type Filled =
  | 'name'
  | 'description'
  | 'effect'
  | 'timeout'
  | 'retries'
  | 'parameterAliases'
  | 'ignoredParameters'
  | 'repair'
  | 'examples'
  | 'service'
  | 'idempotent'
  | 'polls'
  | 'errorStrings'
  | 'untrusted'
  | 'readsWorkspace'
  | 'target'
  | 'indeterminateScope'
  | 'edits'
  | 'priority'
type Optional = 'errors' | 'sends' | 'secrets' | 'effectOf' | 'denialKeys' | 'preview' | 'layer' | 'digest' | 'subject'

/** A checked tool, as used by the executor and toolsets: its definition with the defaults filled in. */
export interface Tool extends Required<Pick<ToolDefinition<never>, Filled>>, Pick<ToolDefinition<never>, Optional> {
  /** The JSON Schema sent to the model. */
  readonly inputSchema: JsonSchema
  readonly aliases: readonly Exclude<ToolAlias, string>[]
  readonly check: SchemaCheck
  readonly execute: (input: never, ctx: ToolContext) => unknown
}

/** Default timeout of a call, in seconds. */
export const DEFAULT_TIMEOUT = 60
const MAX_TIMEOUT = 3600
const MAX_EXTERNAL_RETRIES = 2
/** The tool names that every provider accepts. */
export const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** Default number of retries, by effect. */
export const DEFAULT_RETRIES: Readonly<Record<Effect, number>> = { read: 3, write: 3, external: 1 }

/**
 * Checks a definition and fills in the defaults.
 *
 * @throws TypeError naming the invalid field: a bad name, a schema that is not an object, a timeout in milliseconds.
 * @example
 * const add = defineTool({
 *   name: 'add', description: 'Adds two numbers.', effect: 'read',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * })
 */
export function defineTool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool {
  const given = Object.fromEntries(Object.entries(definition).filter(([, value]) => value !== undefined)) as typeof definition
  const { name, effect = 'external', untrusted = false } = given
  const { input, aliases, ...fields } = {
    ...DEFAULTS,
    effect,
    retries: DEFAULT_RETRIES[effect],
    repair: levelFor(effect),
    indeterminateScope: given.target ? ('target' as const) : ('tool' as const),
    service: name,
    ...(untrusted && effect === 'read' && { sends: 'address' as const }),
    ...given,
  }
  const fail = (what: string): never => {
    throw new TypeError(`defineTool(${JSON.stringify(name)}): ${what}`)
  }
  const { description, execute, repair, indeterminateScope, timeout, retries } = fields
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) fail(`name must match ${TOOL_NAME.source}`)
  if (typeof description !== 'string' || description.trim() === '') fail('description is missing')
  if (typeof execute !== 'function') fail('execute must be a function')
  if (!Object.hasOwn(DEFAULT_RETRIES, effect)) fail(`effect must be read, write or external, not ${JSON.stringify(effect)}`)
  // Otherwise a misspelt `effect` would count as undeclared.
  for (const field of Object.keys(given)) {
    if (FIELDS.includes(field)) continue
    const [meant] = nearest(field, FIELDS)
    fail(`there is no field ${JSON.stringify(field)}${meant ? `; did you mean ${meant}?` : ''}`)
  }
  if (!['off', 'safe', 'full'].includes(repair)) fail(`repair must be off, safe or full, not ${JSON.stringify(repair)}`)
  if (indeterminateScope !== 'target' && indeterminateScope !== 'tool')
    fail(`indeterminateScope must be target or tool, not ${JSON.stringify(indeterminateScope)}`)
  if (fields.errors !== undefined && !['message', 'class'].includes(fields.errors))
    fail(`errors must be message or class, not ${JSON.stringify(fields.errors)}`)
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
  } as Tool
}

/** All fields a definition may have. */
const FIELDS =
  'name description input effect timeout retries aliases parameterAliases ignoredParameters repair examples target indeterminateScope effectOf denialKeys preview service idempotent polls errorStrings errors untrusted sends readsWorkspace secrets layer edits priority digest subject execute'.split(
    ' ',
  )

const DEFAULTS = {
  timeout: DEFAULT_TIMEOUT,
  aliases: [] as readonly ToolAlias[],
  parameterAliases: {},
  ignoredParameters: [],
  examples: [],
  target: JSON.stringify,
  idempotent: false,
  polls: false,
  errorStrings: false,
  untrusted: false,
  readsWorkspace: true,
  edits: false,
  priority: 0,
}
