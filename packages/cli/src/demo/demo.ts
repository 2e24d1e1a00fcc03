/** `mulligan demo`: a scripted model repairs a small real project and makes the classic mistakes on the way. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type AgentEvent, createAgent, memoryStore } from '@mulligan/agent'
import { UsageError } from '@mulligan/host/light'
import { scriptedModel } from '@mulligan/testing'
import { createWorkspace, fileTools } from '@mulligan/tools'
import { EXIT } from '../process.ts'
import { colorsFor } from '../ui/colors.ts'
import { linesOf, NEW_VIEW, reduceView, subjectOf } from '../ui/events-to-lines.ts'
import { ledgerLines } from '../ui/ledger.ts'
import type { Output } from '../ui/output.ts'
import { table } from '../ui/text.ts'
import { CATCHES } from './catches.ts'
import { runCheck, SCRIPT, writeProject } from './story.ts'

const PROMPT = 'npm test fails: a discount makes things dearer. Find out why and fix it.'

export interface DemoFlags {
  /** A protection to disable, to see what happens then. */
  readonly without?: string
}

/** @returns 0 if every mistake was caught and the project's own check passes, otherwise 1. @throws UsageError */
export async function demo({ without }: DemoFlags, output: Output): Promise<number> {
  const left = CATCHES.find(({ id }) => id === without)
  if (without !== undefined && !left)
    throw new UsageError(`unknown protection "${without}"`, `The protections are: ${CATCHES.map(({ id }) => id).join(', ')}.`)
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-demo-'))
  const server = await scriptedModel([...SCRIPT])
  try {
    return await run(folder, server, left, output)
  } finally {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function run(
  folder: string,
  server: Awaited<ReturnType<typeof scriptedModel>>,
  left: (typeof CATCHES)[number] | undefined,
  output: Output,
): Promise<number> {
  const colors = colorsFor(process.stdout)
  const say = (text = ''): void => output.out(`${text}\n`)
  const { bold, dim, green, red } = colors
  await writeProject(folder)
  const before = await runCheck(folder)

  say(bold('Mulligan demo'))
  say(dim('The model is scripted, over real HTTP. The files, the tools and the engine are real.'))
  if (left) say(red(`Without the protection "${left.id}".`))
  say(`\nA small project in a temporary folder; its own check says: ${red(before.says)}`)
  say(`${bold('>')} ${PROMPT}\n`)

  const own = fileTools(createWorkspace(folder))
  const tools = left ? left.without(own) : own
  const style = { colors, subject: subjectOf(tools) }
  const events: AgentEvent[] = []
  let view = NEW_VIEW
  const agent = createAgent({
    model: {
      id: 'scripted/demo',
      model: createOpenAICompatible({ name: 'scripted', baseURL: server.url, includeUsage: true })('demo'),
      where: 'this machine',
      contextTokens: 32_768,
    },
    tools,
    store: memoryStore(),
    cwd: folder,
    approve: async () => ({ answer: 'session' }),
    onEvent: (event) => {
      events.push(event)
      for (const line of linesOf(view, brief(event), style)) say(line)
      view = reduceView(view, event)
    },
  })
  const outcome = await agent.run({ prompt: PROMPT })
  const after = await runCheck(folder)

  say(`\n${outcome.answer}`)
  for (const line of ledgerLines(outcome, colors)) say(line)
  say(`Its own check now says: ${after.passed ? green(after.says) : red(after.says)}\n`)

  const results = events.filter((event) => event.type === 'tool.result')
  const rows = CATCHES.map(({ mistake, caught }) => ({ mistake, says: caught({ events, results }) }))
  for (const line of table([['the model', 'Mulligan'], ...rows.map(({ mistake, says }) => [mistake, says ?? 'NOT CAUGHT'])])) say(line)
  const caught = rows.filter(({ says }) => says !== undefined).length
  const retries = events.filter(({ type }) => type === 'tool.retry').length
  const well = caught === rows.length && before.passed === false && after.passed && outcome.status === 'answered'
  say(
    `\n${caught} of ${rows.length} mistakes caught, ${outcome.calls.length} calls, ${retries} of the model's retries spent, the turn ${outcome.status}.`,
  )
  if (!well) say(red(`It did not go well: ${outcome.error ?? (after.passed ? 'a mistake went uncaught' : 'the project is not fixed')}.`))
  say(`\nNow try it with your own model and folder:
  npx mulligan "what is in this folder?" --cwd FOLDER --model ollama/NAME
  npx mulligan "what is in this folder?" --cwd FOLDER --model NAME --base-url http://localhost:8080/v1`)
  return well ? EXIT.ok : EXIT.failed
}

/** Removes the display of reads, because the calls already tell the story. */
function brief(event: AgentEvent): AgentEvent {
  if (event.type !== 'tool.result' || event.effect !== 'read' || !event.result.ok) return event
  const { display: _, ...result } = event.result
  return { ...event, result }
}
