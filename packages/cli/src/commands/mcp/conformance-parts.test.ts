/** The protocol's conformance suite against our client and `mulligan mcp serve`: each scenario has the outcome of the baseline. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { endOf, place } from '../../../test/cli.fixture.ts'

const SUITE = createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/conformance/package.json')
  .replace('package.json', 'dist/index.js')
const CLIENT = fileURLToPath(new URL('../../../../mcp/src/use/conformance-client.fixture.ts', import.meta.url))

interface Baseline {
  /** Outcomes by scenario. Each that fails has a reason. */
  readonly client: Readonly<Record<string, string>>
  readonly serve: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly reasons: Readonly<Record<string, string>>
}

const BASELINE = JSON.parse(readFileSync(new URL('conformance-baseline.json', import.meta.url), 'utf8')) as Baseline

const suite = (args: readonly string[], cwd: string) =>
  endOf(spawn(process.execPath, [SUITE, ...args], { cwd, env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'pipe'] }))

/** Tools that the suite calls, as tools of one's own. */
const TOOLS: Readonly<Record<string, string>> = {
  test_simple_text: `() => 'This is a simple text response for testing.'`,
  test_image_content: `() => ok('', { content: [{ type: 'media', mediaType: 'image/png', data: 'iVBORw0KGgo=' }] })`,
  test_audio_content: `() => ok('', { content: [{ type: 'media', mediaType: 'audio/wav', data: 'UklGRg==' }] })`,
  test_error_handling: `() => { throw new ToolFailure('This tool intentionally returns an error for testing') }`,
  test_tool_with_progress: `(_, { progress }) => { for (const percent of [0, 50, 100]) progress(String(percent)); return 'done' }`,
}

/** Runs the suite against `serve`. It sends no token, so that a server in between adds it. */
async function servedOutcomes(version: string): Promise<Record<string, string>> {
  const files = Object.entries(TOOLS).map(([name, run]) => {
    const definition = `{ name: '${name}', description: 'x', effect: 'read', input: { type: 'object', properties: {} }, execute: ${run} }`
    return [
      `.mulligan/tools/${name}.mjs`,
      `import { defineTool, ok, ToolFailure } from 'mulligan'\nexport default defineTool(${definition})`,
    ]
  })
  using here = place(Object.fromEntries(files) as Record<string, string>)
  await here.run(['trust', '--yes'])
  const { child, ended } = here.start(['mcp', 'serve', '--http'], { stdin: { open: true } })
  let text = ''
  const [, url = '', token = ''] = await new Promise<RegExpExecArray>((resolve) =>
    child.stderr.on('data', (chunk) => {
      text += String(chunk)
      const found = /at (http:\S+)\nAuthorization: Bearer (\S+)/.exec(text)
      if (found) resolve(found)
    }),
  )
  const between = createServer((req, res) => {
    const headers = { ...req.headers, authorization: `Bearer ${token}` }
    const sent = request(url, { method: req.method ?? 'POST', headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(res)
    })
    sent.on('error', () => res.destroy())
    res.on('close', () => sent.destroy())
    req.pipe(sent)
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  const address = `http://localhost:${(between.address() as AddressInfo).port}/mcp`
  const { stdout } = await suite(['server', '--url', address, '--suite', 'active', '--spec-version', version], here.dir)
  between.closeAllConnections()
  between.close()
  child.kill('SIGTERM')
  await ended
  const lines = stdout.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)
  return Object.fromEntries([...lines].map(([, name = '', passed, failed]) => [name, `${passed} of ${Number(passed) + Number(failed)}`]))
}

it.each(['2025-06-18', '2025-11-25'])('serve, version %s', async (version) => {
  expect(await servedOutcomes(version)).toEqual(BASELINE.serve[version])
}, 300_000)

it('our client', async () => {
  using here = place()
  const outcomes: Record<string, string> = {}
  for (const scenario of Object.keys(BASELINE.client)) {
    const { stdout, stderr } = await suite(['client', '--command', `${process.execPath} ${CLIENT}`, '--scenario', scenario], here.dir)
    const [, passed, all] = /Passed: (\d+)\/(\d+)/.exec(stdout + stderr) ?? []
    outcomes[scenario] = `${passed} of ${all}`
  }
  expect(outcomes).toEqual(BASELINE.client)
}, 300_000)

it('what does not pass has a reason', () => {
  const all = [BASELINE.client, ...Object.values(BASELINE.serve)].flatMap((outcomes) => Object.entries(outcomes))
  const failing = all.flatMap(([scenario, outcome]) => (/^(\d+) of \1$/.test(outcome) ? [] : [scenario]))
  expect(Object.keys(BASELINE.reasons).toSorted()).toEqual([...new Set(failing)].toSorted())
})
