/** What the examples in the docs of the AI SDK leave to their reader. */
import type { LanguageModel, ModelMessage, Tool, ToolSet } from 'ai'
import type * as zod from 'zod'

type AnyTool = Tool<{ readonly text: string }, string>
/** Called in some examples, and given as a tool in others. */
type Either = AnyTool & ((...args: readonly unknown[]) => Promise<string>)

declare global {
  const z: typeof zod.z
  const model: LanguageModel
  const yourModel: LanguageModel
  const messages: ModelMessage[]
  const prompt: string
  const myAbortSignal: AbortSignal
  const logger: Pick<typeof console, 'info' | 'warn' | 'error' | 'log'>
  const tools: { readonly weather: AnyTool }
  const yourTools: ToolSet
  const myToolSet: { readonly weather: AnyTool }
  const weather: AnyTool
  const weatherTool: AnyTool
  const searchTool: AnyTool
  const search: Either
  const calculatorTool: AnyTool
  const calculateTool: AnyTool
  const finalAnswerTool: AnyTool
  const submitAnswerTool: AnyTool
  const analyzeTool: AnyTool
  const summarizeTool: AnyTool
  const attractionsTool: AnyTool
  const readDatabaseTool: AnyTool
  const writeDatabaseTool: AnyTool
  const readFileTool: AnyTool
  const queryLogs: Either
  const searchTickets: Either
  const searchFlights: Either
  const lookupCustomer: Either
  const processPayment: Either
  const getOrderStatus: Either
  const getWeather: Either
  const git: AnyTool
  const bash: AnyTool
  const runCommand: Either
  const fetchWeather: Either
  const experimental_sandbox: import('ai').Experimental_SandboxSession
  function summarizeToolResult(result: unknown): string
  function readBody(event: unknown): Promise<{ messages: import('ai').UIMessage[] }>
  function defineEventHandler<Handler extends (event: unknown) => unknown>(handler: Handler): Handler
  function defineLazyEventHandler<Handler>(open: () => Promise<Handler>): Handler
  function useRuntimeConfig(): { readonly aiGatewayApiKey: string; readonly openaiApiKey: string }
}
