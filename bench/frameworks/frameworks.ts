/** The frameworks, and one run of one of them over one mistake. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { scriptedModel } from '@mulligan/testing'
import type { Driver } from './driver.ts'
import { type Mistake, REQUESTS, type Seen, toolsFor } from './mistakes.ts'

export interface Framework {
  readonly name: string
  readonly driver: string
  /** Of its packages, exact. None: it is in this repository. */
  readonly packages: Readonly<Record<string, string>>
}

export const FRAMEWORKS: readonly Framework[] = [
  { name: 'Mulligan, its own agent', driver: 'mulligan-agent', packages: {} },
  { name: 'AI SDK with Mulligan', driver: 'mulligan-ai-sdk', packages: {} },
  { name: 'AI SDK 7.0.173', driver: 'ai-sdk', packages: {} },
  {
    name: 'LangChain 1.5.14',
    driver: 'langchain',
    packages: { langchain: '1.5.14', '@langchain/core': '1.4.0', '@langchain/openai': '1.6.0' },
  },
  { name: 'OpenAI Agents 0.20.0', driver: 'openai-agents', packages: { '@openai/agents': '0.20.0', openai: '7.57.0' } },
  { name: 'Mastra 1.71.0', driver: 'mastra', packages: { '@mastra/core': '1.71.0', '@ai-sdk/openai-compatible': '3.0.92' } },
]

const HERE = import.meta.dirname
/** Milliseconds that a tool may take. */
const TOOL_TIMEOUT = 1000
/** Milliseconds after which a run is given up: it does not end. */
const GIVEN_UP = 15_000

/** @param folder where its packages are installed */
export async function load({ driver, packages }: Framework, folder: string): Promise<Driver> {
  const isOurs = Object.keys(packages).length === 0
  const at = isOurs ? HERE : join(folder, 'bench')
  if (!isOurs) {
    mkdirSync(join(at, 'drivers'), { recursive: true })
    for (const file of ['driver.ts', join('drivers', `${driver}.ts`)]) cpSync(join(HERE, file), join(at, file))
  }
  const { run } = (await import(pathToFileURL(join(at, 'drivers', `${driver}.ts`)).href)) as { readonly run: Driver }
  return run
}

export async function seen(run: Driver, { turns }: Mistake): Promise<Seen> {
  await using model = await scriptedModel(turns, { toolsRequired: false })
  const ran: { tool: string; input: unknown }[] = []
  const tools = toolsFor((tool, input) => void ran.push({ tool, input }))
  const ended = run({ url: model.url, prompt: 'Read the notes.', tools, requests: REQUESTS, toolTimeout: TOOL_TIMEOUT }).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ threw: (error as Error)?.name ?? 'unknown error' }),
  )
  const end = await Promise.race([ended, new Promise<void>((resolve) => setTimeout(resolve, GIVEN_UP))])
  return { requests: [...model.requests], ran, ...(end && { end }) }
}
