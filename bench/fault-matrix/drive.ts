/** Runs a row: the real command against a scripted model, and the checks that apply to every row. */
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TurnOutcome } from '@mulligan/agent'
import { lastToolResults, type ScriptedModel, scriptedModel } from '@mulligan/testing'
import { afterAll, expect } from 'vitest'
import { type CliFixture, type Ended, place, trusted } from '../../packages/cli/test/cli.fixture.ts'
import { checkHints, describeCall } from './hints.ts'
import { CANARY, leaks } from './leaks.ts'
import { ANSWERED, type Protocol, type Row, type Run } from './row.ts'
import { keptRows, unansweredCalls } from './store.ts'

const TOOLS = fileURLToPath(new URL('./tools/', import.meta.url))
/** Shared by all runs, which load the same modules. */
const COMPILED = join(tmpdir(), `mulligan-compiled-${process.pid}`)
afterAll(() => rmSync(COMPILED, { recursive: true, force: true }))
const KEY = `sk-${CANARY}-key`

/** A workspace with the fault tools. Home and data are elsewhere, under a name that must not leak. */
export function workspace(given: Readonly<Record<string, string>> = {}): CliFixture & { readonly home: string } {
  const tools = readdirSync(TOOLS).map((file) => [`.mulligan/tools/${file}`, readFileSync(join(TOOLS, file), 'utf8')] as const)
  const here = place({ ...Object.fromEntries(tools), ...given })
  const home = join(dirname(here.dir), `${CANARY}-home`)
  here.write(`../${CANARY}-home/secret.txt`, `${CANARY}-secret`)
  symlinkSync(home, join(here.dir, 'link'))
  trusted({ dir: here.dir, data: join(home, 'data') })
  return { ...here, home }
}

/** The flags and the environment of a run. */
export function using(model: Pick<ScriptedModel, 'url' | 'anthropicUrl' | 'ollamaUrl'>, protocol: Protocol, home: string) {
  const flags = {
    openai: ['--model', 'scripted', '--base-url', model.url],
    anthropic: ['--model', 'anthropic/claude-scripted', '--base-url', model.anthropicUrl],
    ollama: ['--model', 'ollama/scripted', '--base-url', model.ollamaUrl],
  }[protocol]
  const env = {
    HOME: home,
    XDG_DATA_HOME: join(home, 'share'),
    MULLIGAN_DATA_DIR: join(home, 'data'),
    NODE_COMPILE_CACHE: COMPILED,
    SERVICE_TOKEN: `${CANARY}-env`,
    [protocol === 'anthropic' ? 'ANTHROPIC_API_KEY' : 'MULLIGAN_API_KEY']: KEY,
  }
  return { flags, env }
}

export async function drive(row: Row, protocol: Protocol): Promise<void> {
  const here = workspace(row.given)
  const model = await scriptedModel(row.script)
  try {
    const first = await runOnce(row, row, [], here, model, protocol)
    if (row.next) {
      model.push(...row.next.script)
      const again = first ? ['--session', first.sessionId] : ['--last']
      const second = await runOnce(row.next, row, again, here, model, protocol)
      if (first) expect(second?.sessionId).toBe(first.sessionId)
    }
    for (const [file, text] of Object.entries(row.files ?? {})) expect([file, textOf(join(here.dir, file))]).toEqual([file, text])
    const log = textOf(join(here.home, 'data', 'mulligan.log')) ?? ''
    for (const text of row.logged ?? []) expect(log).toContain(text)
    row.sent?.(model.requests)
  } finally {
    await model.close()
    rmSync(dirname(here.dir), { recursive: true, force: true })
  }
}

type Here = ReturnType<typeof workspace>

/** @returns the outcome; `undefined` if the process was killed */
async function runOnce(run: Run, row: Row, more: readonly string[], here: Here, model: ScriptedModel, protocol: Protocol) {
  const before = model.requests.length
  const address = row.down ? await deserted() : model
  const { flags, env } = using(address, protocol, here.home)
  const { child, ended } = here.start(['run', 'Do it.', '--json', ...(run.flags ?? []), ...more, ...flags], { env })
  if (run.interrupt) {
    const { file, signal } = run.interrupt
    await Promise.race([appears(() => here.has(file) && model.requests.length > before), ended])
    child.kill(signal)
  }
  const result = await ended
  await model.idle()
  const killed = run.interrupt?.signal === 'SIGKILL'
  const outcome = killed ? undefined : outcomeOf(result)
  if (outcome) checkOutcome(run, result, outcome)
  model.assertDone()
  const requests = model.requests.slice(before)
  for (const { headers } of requests) expect(headers['authorization'] ?? headers['x-api-key']).toContain(KEY)
  for (const text of run.told ?? []) expect(requests.flatMap(resultTexts).join('\n⸻\n')).toMatch(multiline(text))
  if (outcome) checkHints(outcome, requests, run === row ? row.unrepaired : undefined)
  const kept = keptRows(join(here.home, 'data', 'mulligan.db'))
  if (!killed) expect(unansweredCalls(kept)).toEqual([])
  const found = leaks({ stdout: result.stdout, stderr: result.stderr, ...bodies(requests), ...kept })
  expect(found, found.join('\n')).toEqual([])
  return outcome
}

function outcomeOf({ code, stdout, stderr }: Ended): TurnOutcome {
  try {
    return JSON.parse(stdout) as TurnOutcome
  } catch {
    throw new Error(`no outcome on stdout; exit code ${code}, stderr: ${stderr.slice(0, 2000)}, stdout: ${stdout.slice(0, 500)}`)
  }
}

function checkOutcome(run: Run, { code, stderr }: Ended, outcome: TurnOutcome): void {
  const { exit, status, stoppedBy } = run.ends ?? ANSWERED
  expect({
    calls: outcome.calls.map(describeCall),
    exit: code,
    status: outcome.status,
    stoppedBy: outcome.stoppedBy,
    error: outcome.error !== undefined,
  }).toEqual({ calls: run.calls, exit, status, stoppedBy, error: status === 'failed' })
  expect(stderr).toMatch(run.stderr ?? /^$/)
  expect(new Set(outcome.calls.map(({ id }) => id)).size).toBe(outcome.calls.length)
  expect(outcome.answer.trim()).not.toBe('')
  if (run.answer) expect(outcome.answer).toMatch(run.answer)
}

const bodies = (requests: ScriptedModel['requests']) => Object.fromEntries(requests.map(({ n, bodyText }) => [`request ${n}`, bodyText]))

const resultTexts = (request: ScriptedModel['requests'][number]): string[] => lastToolResults(request).map(({ text }) => text)

const multiline = (text: RegExp): RegExp => new RegExp(text.source, [...new Set(`${text.flags}m`)].join(''))

function textOf(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

async function appears(there: () => boolean): Promise<void> {
  while (!there()) await sleep(10)
}

/** An address where no server listens. */
async function deserted(): Promise<Pick<ScriptedModel, 'url' | 'anthropicUrl' | 'ollamaUrl'>> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise((resolve) => server.close(resolve))
  return { url: `${origin}/v1`, anthropicUrl: origin, ollamaUrl: origin }
}
