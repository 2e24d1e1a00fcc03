/** The parsers of calls that leaked into the text, each set up as in an application. */
import * as parser from '@ai-sdk-tool/parser'
import { type JsonSchema, parseToolCalls, type ToolSpec } from '@mulligan/repair'
import { generateText, isStepCount, type JSONSchema7, jsonSchema, type LanguageModelMiddleware, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import Ajv from 'ajv/dist/2020.js'

export interface Call {
  readonly name: string
  readonly arguments: unknown
}

/** The model's text, and its tools. */
export interface Written {
  readonly raw: string
  readonly tools: readonly ToolSpec[]
}

/** The calls that would run. */
export type Runs = (written: Written) => Promise<readonly Call[]>

export type Protocol = parser.TCMProtocol

/** Every protocol of the package, by its first name. */
export const PROTOCOLS = new Map<string, Protocol>()
const known = new Set<unknown>()
for (const [name, make] of Object.entries(parser)) {
  if (!name.endsWith('Protocol') || known.has(make)) continue
  known.add(make)
  PROTOCOLS.set(name, (make as () => Protocol)())
}

const PROMPT = 'Look at the files.'
const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
}
const said = (text: string) => ({
  content: [{ type: 'text' as const, text }],
  finishReason: { unified: 'stop' as const, raw: 'stop' },
  usage,
  warnings: [],
})

/** The AI SDK does not run a call whose input does not match its schema, so the schema is checked. */
const ajv = new Ajv.default({ strict: false, validateFormats: false, logger: false })
const inputSchemas = new WeakMap<JsonSchema, ReturnType<typeof jsonSchema>>()
function inputSchema(parameters: JsonSchema) {
  const known = inputSchemas.get(parameters)
  if (known) return known
  const isValid = ajv.compile(parameters)
  const made = jsonSchema(parameters as JSONSchema7, {
    validate: (value) => (isValid(value) ? { success: true, value } : { success: false, error: new Error(ajv.errorsText(isValid.errors)) }),
  })
  inputSchemas.set(parameters, made)
  return made
}

const ANYTHING: JsonSchema = { type: 'object' }

/** The calls that `generateText` runs if the model replies with this text only. */
export const sdkRuns =
  (middleware?: LanguageModelMiddleware): Runs =>
  async ({ raw, tools }) => {
    const ran: Call[] = []
    const given = tools.map(({ name, parameters = ANYTHING }) => {
      const execute = (input: unknown) => {
        ran.push({ name, arguments: input })
        return 'done'
      }
      return [name, tool({ inputSchema: inputSchema(parameters), execute })] as const
    })
    const plain = new MockLanguageModelV4({ doGenerate: async () => said(raw) })
    const model = middleware ? wrapLanguageModel({ model: plain, middleware }) : plain
    await generateText({ model, prompt: PROMPT, tools: Object.fromEntries(given), stopWhen: isStepCount(1), maxRetries: 0 })
    return ran
  }

/** The package's middleware is for an earlier specification than that of this AI SDK; for complete replies the two are the same. */
export const parserRuns = (protocol: Protocol): Runs =>
  sdkRuns(parser.createToolMiddleware({ protocol, toolSystemPromptTemplate: JSON.stringify }) as unknown as LanguageModelMiddleware)

export const mulliganReads = ({ raw, tools }: Written): readonly Call[] => parseToolCalls(raw, tools).calls
export const mulliganRuns: Runs = async (written) => mulliganReads(written)

/** The package's parser without the AI SDK: what it does with a complete reply. */
export function parserReads(protocol: Protocol, { raw, tools }: Written): () => Promise<unknown> {
  const functions = tools.map(({ name, parameters = ANYTHING }) => ({
    type: 'function' as const,
    name,
    inputSchema: parameters as JSONSchema7,
  }))
  const params = parser.transformParams({ params: { prompt: [], tools: functions }, protocol, toolSystemPromptTemplate: JSON.stringify })
  const reply = said(raw)
  return () => parser.wrapGenerate({ protocol, doGenerate: async () => reply, params })
}
