/** The frameworks, and a run of one of them. */
import { cpSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { scriptedModel } from '@mulligan/testing'
import type { Driver, Drivers } from './driver.ts'
import { REPAIRED, REQUESTS, repairs, type Scenario, type Seen } from './scenarios.ts'
import { toolsFor } from './tools.ts'

/** A column of the table. */
export interface Framework {
  readonly name: string
  readonly driver: string
  readonly settings: keyof Drivers
  /** Exact versions of its packages. None if it is in this repository. */
  readonly packages: Readonly<Record<string, string>>
}

type Peer = Omit<Framework, 'settings'>

const { version } = createRequire(import.meta.url)('ai/package.json') as { readonly version: string }
const AI_SDK: Peer = { name: `AI SDK ${version}`, driver: 'ai-sdk', packages: {} }
const MULLIGAN: Peer = { name: 'AI SDK with Mulligan', driver: 'mulligan-ai-sdk', packages: {} }
const OTHERS: readonly Peer[] = [
  {
    name: 'LangChain 1.5.14',
    driver: 'langchain',
    packages: { langchain: '1.5.14', '@langchain/core': '1.4.0', '@langchain/openai': '1.6.0' },
  },
  { name: 'OpenAI Agents 0.20.0', driver: 'openai-agents', packages: { '@openai/agents': '0.20.0', openai: '7.57.0' } },
  { name: 'Mastra 1.71.0', driver: 'mastra', packages: { '@mastra/core': '1.71.0', '@ai-sdk/openai-compatible': '3.0.92' } },
]

const withSettings = (settings: keyof Drivers, peers: readonly Peer[]): readonly Framework[] => peers.map((peer) => ({ ...peer, settings }))

/** As the documentation of each begins. */
export const DEFAULTS = withSettings('run', [MULLIGAN, AI_SDK, ...OTHERS])
/** With the settings that each recommends. */
export const RECOMMENDED = [
  ...withSettings('run', [{ name: 'Mulligan, its own agent', driver: 'mulligan-agent', packages: {} }]),
  ...withSettings('recommended', [MULLIGAN, AI_SDK, ...OTHERS]),
]
export const FRAMEWORKS: readonly Framework[] = [...DEFAULTS, ...RECOMMENDED]

const HERE = import.meta.dirname
/** Milliseconds that a tool may take. */
const TOOL_TIMEOUT = 1000
/** Milliseconds that a run may take. */
const RUN_TIMEOUT = 10_000
/** Milliseconds after which a run is aborted, because it does not end. */
const GIVEN_UP = 15_000

export const isOurs = ({ packages }: Framework): boolean => Object.keys(packages).length === 0
export const sourceOf = ({ driver }: Framework): string => join(HERE, 'drivers', `${driver}.ts`)

/** @param folder in which its packages are installed */
export async function load(framework: Framework, folder: string): Promise<Driver> {
  const at = join(folder, 'bench', 'drivers', `${framework.driver}.ts`)
  if (!isOurs(framework)) {
    mkdirSync(join(folder, 'bench', 'drivers'), { recursive: true })
    cpSync(join(HERE, 'driver.ts'), join(folder, 'bench', 'driver.ts'))
    cpSync(sourceOf(framework), at)
  }
  const drivers = (await import(pathToFileURL(isOurs(framework) ? sourceOf(framework) : at).href)) as Drivers
  const driver = drivers[framework.settings]
  if (!driver) throw new Error(`${framework.driver}.ts does not export ${framework.settings}`)
  return driver
}

export async function seen(run: Driver, { turns }: Scenario): Promise<Seen> {
  let replies = 0
  await using model = await scriptedModel(
    (request) => {
      if (repairs(request)) return REPAIRED
      replies += 1
      const turn = typeof turns === 'function' ? turns : turns[replies - 1]
      return typeof turn === 'function' ? turn(request, replies) : turn
    },
    { toolsRequired: false },
  )
  const ran: { tool: string; input: unknown }[] = []
  const tools = toolsFor((tool, input) => void ran.push({ tool, input }))
  const task = { url: model.url, prompt: 'Read the notes.', tools, requests: REQUESTS, toolTimeout: TOOL_TIMEOUT, runTimeout: RUN_TIMEOUT }
  const ended = run(task).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ threw: (error as Error)?.name ?? 'unknown error' }),
  )
  const end = await Promise.race([ended, new Promise<void>((resolve) => setTimeout(resolve, GIVEN_UP))])
  return {
    requests: [...model.requests],
    ran,
    refused: model.violations.some(({ message }) => message.startsWith('refused')),
    ...(end && { end }),
  }
}
