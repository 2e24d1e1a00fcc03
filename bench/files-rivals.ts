/** The rivals of the file benchmark: plain tools, ours through the executor, and an MCP server that other agents use. */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createExecutor } from '@mulligan/core/executor'
import { createWorkspace, fileTools } from '@mulligan/tools'
import { rgPath } from '@vscode/ripgrep'

export interface Rival {
  readonly read: (path: string) => Promise<unknown>
  readonly edit: (path: string, from: string, to: string) => Promise<unknown>
  readonly glob: (pattern: string) => Promise<unknown>
  /** Not every rival has one. */
  readonly grep?: (pattern: string) => Promise<unknown>
  readonly end?: () => void
}

export const PEER = '@modelcontextprotocol/server-filesystem'

/** Without paging, diffs or path checks. */
export function bare(root: string): Rival {
  return {
    read: (path) => readFile(join(root, path), 'utf8'),
    edit: async (path, from, to) => writeFile(join(root, path), (await readFile(join(root, path), 'utf8')).replace(from, to)),
    glob: (pattern) => ripgrep(['--files', `--glob=${pattern}`], root),
    grep: (pattern) => ripgrep(['--json', '--', pattern, '.'], root),
  }
}

function ripgrep(args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(rgPath, ['--no-config', ...args], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  return new Promise((resolve, reject) =>
    child.once('error', reject).once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`ripgrep ended with ${code}`)))),
  )
}

/** Each call has its own turn, because the loop guard would stop the benchmark otherwise. */
export function ours(root: string): Rival {
  const tools = fileTools(createWorkspace(root))
  const call = async (name: string, input: object): Promise<unknown> => {
    const executor = createExecutor({ tools, policy: () => ({ decision: 'allow', reason: 'a bench' }) })
    const prepared = await executor.prepare({ id: 't/1/0', step: 1, ordinal: 0, name, input: JSON.stringify(input) })
    if (prepared.kind !== 'ready') throw new Error(`${name} is ${prepared.kind} instead of ready`)
    const { result } = await executor.execute(prepared.call)
    if (!result.ok || result.count === 0) throw new Error(`${name}: ${result.ok ? 'nothing found' : result.error}`)
    return result
  }
  return {
    read: (path) => call('read_file', { path }),
    edit: (path, from, to) => call('edit_file', { path, edits: [{ old_text: from, new_text: to }] }),
    glob: (pattern) => call('glob', { pattern }),
    grep: (pattern) => call('grep', { pattern }),
  }
}

/** The server over stdio, used as by a client; undefined if it is not installed. */
export async function peer(root: string): Promise<Rival | undefined> {
  let script: string
  try {
    script = createRequire(import.meta.url).resolve(`${PEER}/dist/index.js`)
  } catch {
    return undefined
  }
  const child = spawn(process.execPath, [script, root], { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (answer: Answer) => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const send = (message: object): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  let next = 0
  const request = async (method: string, params: object): Promise<unknown> => {
    const id = ++next
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    const { result, error } = await answered
    if (error || result?.isError) throw new Error(`${PEER}: ${JSON.stringify(error ?? result)}`)
    return result
  }
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } })
  send({ method: 'notifications/initialized' })
  const call = (name: string, input: object): Promise<unknown> => request('tools/call', { name, arguments: input })
  return {
    read: (path) => call('read_text_file', { path: join(root, path) }),
    edit: (path, oldText, newText) => call('edit_file', { path: join(root, path), edits: [{ oldText, newText }] }),
    glob: (pattern) => call('search_files', { path: root, pattern }),
    end: () => child.kill(),
  }
}

interface Answer {
  readonly id: number
  readonly result?: { readonly isError?: boolean }
  readonly error?: unknown
}
