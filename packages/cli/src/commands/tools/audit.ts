/**
 * `mulligan tools audit` checks how each tool behaves when something is found, nothing is found, the input is wrong, and the call fails. It
 * sets up what the examples need: a repository, a sandbox and a local web server.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Tool, wrapTools } from '@mulligan/core'
import { oneLine } from '@mulligan/host/light'
import { openTools, problemText, sandboxOptions } from '@mulligan/host/parts'
import { createSandbox, resolveProgram, runProgram, type Sandbox, SandboxError, type SandboxOptions, safePath } from '@mulligan/sandbox'
import { type ConformanceReport, conformance, type ToolReport, temporaryWorkspace } from '@mulligan/testing'
import { createWorkspace, fileTools, gitTools, type ShellTools, shellTools, thinkTools, type Workspace, webTools } from '@mulligan/tools'
import { workingFolder } from '../../paths.ts'
import { EXIT, ownCodeIn } from '../../process.ts'
import { refuseUntrusted, settledTools } from '../../trust.ts'
import { type Colors, colorsFor } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, print, table } from '../../ui/text.ts'

/** @returns 1 if a tool does not conform or could not be loaded */
export async function auditTools(flags: FolderFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const { settings } = await settledTools(cwd, flags, { err: () => undefined })
  refuseUntrusted(cwd)
  await using opened = await openTools(cwd, { env: process.env, settings: { ...settings, mcpServers: [] }, around: ownCodeIn(cwd) })
  const { tools, own, problems } = opened
  const mine = tools.filter(({ name }) => own.has(name))
  const report = await auditOf(mine, sandboxOptions(settings.sandbox, cwd, process.env))
  const conforms = report.conforms && problems.length === 0
  const lines = [...tableOf(report), ...faultLines(report, colorsFor(process.stdout)), ...problems.map(problemText)]
  print(output, flags.json, { ...report, conforms, problems }, lines)
  if (!flags.json && report.problem) output.err(`${oneLine(report.problem, 400)}\n`)
  return conforms ? EXIT.ok : EXIT.failed
}

/** Audits the built-in tools, with what their examples need, and the user's own tools. */
async function auditOf(mine: readonly Tool[], options: SandboxOptions): Promise<ConformanceReport> {
  await using web = await webStandIn()
  await using shells = await exampleShells(options)
  const git = new Set(gitTools(createWorkspace('.')).map(({ name }) => name))
  return await conformance(
    (dir) => {
      const workspace = createWorkspace(dir)
      return [
        ...fileTools(workspace),
        ...gitTools(workspace),
        ...thinkTools(),
        ...web.tools(),
        ...shells.tools(workspace),
        ...within(dir, mine),
      ]
    },
    { workspace: () => temporaryWorkspace(shells.root), prepare: (dir, { name }) => (git.has(name) ? makeRepository(dir) : undefined) },
  )
}

/** Wraps own tools to run in a folder made for their examples as the working directory, never in the user's folder. */
function within(dir: string, tools: readonly Tool[]): readonly Tool[] {
  // Never return to the user's folder: a tool that timed out may still be running.
  const leave = (): void => process.chdir(tmpdir())
  leave()
  return wrapTools(tools, async (run, input, ctx) => {
    process.chdir(dir)
    inside = dir
    try {
      return await run(input, ctx)
    } finally {
      if (inside === dir) leave()
    }
  })
}

/** The folder entered last. A tool may still be running when the next one begins. */
let inside: string | undefined

const tableOf = ({ tools }: ConformanceReport): string[] =>
  table([
    ['TOOL', 'FOUND', 'EMPTY', 'WRONG', 'FAILING', 'CONFORMS'],
    ...tools.map(({ tool, behaviour, conforms }) =>
      [tool, behaviour.found, behaviour.empty, behaviour.wrong, behaviour.failing, conforms ? 'yes' : 'NO'].map((cell) =>
        oneLine(cell, 60),
      ),
    ),
  ])

const faultLines = ({ tools }: ConformanceReport, { red }: Colors): string[] =>
  tools.flatMap((report) => faultsOf(report).map((fault) => `${red('✗')} ${oneLine(report.tool, 64)}: ${fault}`))

const faultsOf = ({ checks }: ToolReport): string[] =>
  checks.filter(({ outcome }) => outcome === 'fail').map(({ check, why }) => `${check}${why ? `: ${oneLine(why, 400)}` : ''}`)

const AUTHOR = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org'] as const

/** Creates a repository with a commit, without anyone's git settings. Does nothing without git: the tools report that themselves. */
async function makeRepository(dir: string): Promise<void> {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...environment } = process.env
  const git = resolveProgram('git', { workspace: process.cwd() })
  if (git === undefined) return
  const env = { ...environment, PATH: safePath(environment['PATH'], process.cwd()), GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: '1' }
  await runProgram(git, ['init', '--quiet', '--initial-branch=main', '--template='], { cwd: dir, env })
  await runProgram(git, [...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message=Begin'], { cwd: dir, env })
}

/** Opens the shell tools: one sandbox, with the folders of the examples inside its own. */
async function exampleShells(options: SandboxOptions) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'audit-')))
  const sandbox = await openFor({ ...options, workspace: root })
  const opened: ShellTools[] = []
  return {
    root,
    tools: (workspace: Workspace) => {
      const shell = shellTools({ workspace, sandbox: async () => sandbox })
      opened.push(shell)
      return shell.tools
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((shell) => shell.dispose()))
      await sandbox.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Opens the sandbox. Without one, runs directly, since the examples' commands are ours and harmless. */
async function openFor(options: SandboxOptions): Promise<Sandbox> {
  try {
    return await createSandbox(options)
  } catch (error) {
    if (error instanceof SandboxError) return createSandbox({ ...options, backend: 'none' })
    throw error
  }
}

/** The host of the examples, with the misspelled scheme that one of them uses. */
const EXAMPLE = /^(?:https?|(htp)):\/\/example\.com(?=\/|$)/

/** Returns the web tools, including search, with examples redirected to a local server. */
async function webStandIn() {
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const here = (url: string): string => url.replace(EXAMPLE, (_, misspelt: string | undefined) => `${misspelt ?? 'http'}://${host}`)
  return {
    tools: () => webTools({ allowPrivate: [host], search: { searxng: { url: `http://${host}` } } }).map((tool) => leading(tool, here)),
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const answer: RequestListener = ({ url = '/' }, response) => {
  const [type, body] = url.startsWith('/search') ? ['application/json', RESULTS] : ['text/html; charset=utf-8', PAGE]
  response.writeHead(200, { 'content-type': type }).end(body)
}

const PAGE = '<title>Example</title><h1>Example</h1><p>A page to try things on.</p>'
const RESULTS = JSON.stringify({ results: [{ title: 'Example', url: 'https://example.com/', content: 'A page to try things on.' }] })

const leading = (tool: Tool, here: (url: string) => string): Tool => ({
  ...tool,
  examples: tool.examples.map((example) => {
    const { url } = example.input
    return typeof url === 'string' ? { ...example, input: { ...example.input, url: here(url) } } : example
  }),
})
