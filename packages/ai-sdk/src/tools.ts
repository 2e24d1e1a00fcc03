/** Converts the tools of an AI SDK agent into tools of the engine, and runs or observes their own `execute`. */
import { defineTool, type Tool, type ToolSchema } from '@mulligan/core'
import { partsOf } from '@mulligan/core/adapter'
import { type JsonSchema, TOOL_NAME } from '@mulligan/core/executor'
import { asSchema, type ToolSet } from 'ai'
import type { MulliganOptions, ToolTraits } from './options.ts'
import type { Execute } from './settings.ts'
import type { Turn } from './turn.ts'

const ANY_OBJECT = { type: 'object' } as const
type SdkTool = ToolSet[string]
type StandardSchema = Extract<ToolSchema, { readonly '~standard': unknown }>
const ANYTHING: StandardSchema = { '~standard': { version: 1, vendor: 'ai', validate: (value) => ({ value }) } }

const isStandard = (schema: unknown): schema is StandardSchema => typeof schema === 'object' && schema !== null && '~standard' in schema

/** The provider runs the tool itself, so the engine ignores it. */
export const isForeign = (tool: SdkTool | undefined): boolean => tool?.type === 'provider' && tool.isProviderExecuted

/** Tools that accept any input. @throws TypeError if the options of a tool are invalid */
export function declaredTools(tools: ToolSet, options: MulliganOptions): readonly Tool[] {
  const { tools: traits = {}, defaults } = options
  const declared: Readonly<Record<string, ToolTraits | undefined>> = traits
  const unknown = Object.keys(declared).find((name) => !Object.hasOwn(tools, name))
  if (unknown !== undefined)
    throw new TypeError(`mulligan: options.tools has an entry for ${JSON.stringify(unknown)}, but there is no such tool.`)
  const names = Object.keys(tools).filter((name) => !isForeign(tools[name]))
  return names.map((name) => {
    const { streams: _, ...more } = (Object.hasOwn(declared, name) && declared[name]) || {}
    // Whether a name is valid is left to the provider.
    const known = TOOL_NAME.test(name) ? name : 'tool'
    const tool = defineTool({ ...defaults, ...more, name: known, description: name, input: ANY_OBJECT, execute: () => undefined })
    const timeout = more.timeout ?? defaults?.timeout ?? partsOf(options).timeout
    return { ...tool, name, timeout, service: more.service ?? name }
  })
}

/** The same tools with their schemas, which may be asynchronous. The user's library decides what is valid, as in the SDK. */
export const checkedTools = (declared: readonly Tool[], tools: ToolSet, isFull: boolean): Promise<readonly Tool[]> =>
  Promise.all(
    declared.map(async (tool) => {
      try {
        const input = await schemaOf((tools[tool.name] as SdkTool).inputSchema, isFull)
        const { check, inputSchema } = defineTool({ name: 'tool', description: 'tool', input, execute: () => undefined })
        return { ...tool, check, inputSchema }
      } catch {
        // A schema that can't be checked here is left to the SDK.
        return tool
      }
    }),
  )

async function schemaOf(given: SdkTool['inputSchema'], isFull: boolean): Promise<ToolSchema> {
  const { jsonSchema, validate } = asSchema(given)
  const { $schema: _, ...json } = (await jsonSchema) as JsonSchema
  if (isStandard(given)) return { schema: given, jsonSchema: openJson(given) ?? json, decides: true }
  // The SDK checks nothing against a bare JSON Schema.
  if (!validate) return isFull ? json : { schema: ANYTHING, jsonSchema: json, decides: true }
  const check = async (value: unknown) => {
    const checked = await validate(value)
    if (checked.success) return { value: checked.value }
    const { message, issues } = checked.error as Error & { readonly issues?: readonly { readonly message: string }[] }
    return { issues: issues ?? [{ message }] }
  }
  return { schema: { '~standard': { version: 1, vendor: 'ai', validate: check } }, jsonSchema: json, decides: true }
}

/** The JSON Schema of the library itself: the SDK forbids unknown keys in the one that it sends, even if the library ignores them. */
function openJson(schema: StandardSchema): JsonSchema | undefined {
  try {
    return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' })
  } catch {
    return undefined
  }
}

/** The tools with their schemas as the SDK converts them. Otherwise it would convert them again for each request. */
export const convertedTools = (tools: ToolSet): ToolSet =>
  Object.fromEntries(
    Object.entries<SdkTool>(tools).map(([name, tool]) => [
      name,
      isStandard(tool.inputSchema) ? withMembers(tool, { inputSchema: asSchema(tool.inputSchema) }) : tool,
    ]),
  )

/** Replaces properties of the tool. Methods stay bound to the original, and getters run on each access. */
function withMembers(tool: SdkTool, changed: Readonly<Record<PropertyKey, unknown>>): SdkTool {
  const read = (key: PropertyKey): unknown => (Object.hasOwn(changed, key) ? changed[key] : methodOf(tool, Reflect.get(tool, key)))
  if (isPlain(tool)) return Object.fromEntries(Reflect.ownKeys({ ...tool, ...changed }).map((key) => [key, read(key)])) as SdkTool
  // The target is an empty object, because a proxy must report the properties of a frozen target unchanged.
  const proxy = new Proxy(
    {},
    {
      get: (_, key) => read(key),
      has: (_, key) => key in tool || key in changed,
      getPrototypeOf: () => Object.getPrototypeOf(tool),
      ownKeys: () => Reflect.ownKeys(tool),
      getOwnPropertyDescriptor: (_, key) => {
        const own = Reflect.getOwnPropertyDescriptor(tool, key)
        return own && { get: () => read(key), enumerable: own.enumerable === true, configurable: true }
      },
    },
  )
  return proxy as SdkTool
}

/** Binds methods. Classes and callable schemas have properties of their own and are not bound. */
const methodOf = (tool: SdkTool, value: unknown): unknown =>
  typeof value === 'function' && !('~standard' in value) && Reflect.ownKeys(value).every((key) => key === 'length' || key === 'name')
    ? value.bind(tool)
    : value

const isPlain = (tool: SdkTool): boolean =>
  Object.getPrototypeOf(tool) === Object.prototype &&
  Reflect.ownKeys(tool).every((key) => {
    const { enumerable, get } = Object.getOwnPropertyDescriptor(tool, key) as PropertyDescriptor
    return enumerable && !get
  })

/** Replaces `execute`; tools without `execute` are unchanged. */
export const mapExecute = (tools: ToolSet, around: (run: Execute, name: string) => Execute): ToolSet =>
  Object.fromEntries(
    Object.entries<SdkTool>(tools).map(([name, tool]) => [
      name,
      tool.execute ? withMembers(tool, { execute: around(tool.execute.bind(tool), name) }) : tool,
    ]),
  )

const isGenerator = (run: unknown): boolean =>
  (run as { readonly [Symbol.toStringTag]?: string })[Symbol.toStringTag] === 'AsyncGeneratorFunction'

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** An `execute` that is run by the engine. @param streams whether it returns an async iterable */
export function withEngine(turn: Turn, run: Execute, toolName: string, streams = isGenerator(run)): Execute {
  const start = (input: unknown, about: Parameters<Execute>[1], show: (value: unknown) => void): Promise<unknown> =>
    turn.run({ toolCallId: about.toolCallId, toolName, input }, about.messages, (ctx, decided) => {
      // A signal is only created for a tool that reads it.
      let signal: AbortSignal | undefined
      const value = run(decided, {
        ...about,
        get abortSignal() {
          // The SDK's own signal has limits that the engine does not know, such as those of a single call of an agent.
          signal ??= about.abortSignal ? AbortSignal.any([ctx.signal, about.abortSignal]) : ctx.signal
          return signal
        },
      })
      return isIterable(value) ? lastOf(value, ctx.signal, show) : value
    })
  return streams ? (input, about) => streamed((show) => start(input, about, show)) : (input, about) => start(input, about, () => undefined)
}

/** An unchanged `execute`, whose outcome is reported to the engine. */
export const observed =
  (turn: Turn, run: Execute, toolName: string): Execute =>
  (input, about) => {
    const value = run(input, about)
    turn
      .run({ toolCallId: about.toolCallId, toolName, input }, about.messages, () => (isIterable(value) ? undefined : value))
      .catch(() => undefined)
    return value
  }

/** Shows each value and returns the last. If the call is aborted, the iterable is told to stop. */
async function lastOf(values: AsyncIterable<unknown>, signal: AbortSignal, show: (value: unknown) => void): Promise<unknown> {
  let last: unknown
  for await (const value of values) {
    if (signal.aborted) break
    last = value
    show(value)
  }
  return last
}

/** Yields what `run` shows. @throws whatever `run` rejects with */
async function* streamed(run: (show: (value: unknown) => void) => Promise<unknown>): AsyncGenerator<unknown> {
  const waiting: unknown[] = []
  let isOver = false
  let wake = (): void => undefined
  const over = run((value) => {
    waiting.push(value)
    wake()
  }).finally(() => {
    isOver = true
    wake()
  })
  over.catch(() => undefined)
  for (;;) {
    yield* waiting.splice(0)
    if (isOver && waiting.length === 0) break
    if (waiting.length === 0)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  await over
}
