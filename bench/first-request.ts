/** A server that measures when the first request of an agent arrives, and how much memory the agent uses then. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Started {
  /** Milliseconds from the start of the process to the request. */
  readonly ms: number
  /** Resident memory at that moment, of the process and its children; shared pages count once. Only defined on Linux. */
  readonly megabytes: number | undefined
}

export interface Ask {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

const PATIENCE = 60_000

/** @param ask returns what to start, for the address of the server. @throws Error with its output if no request arrives */
export async function firstRequest(ask: (baseUrl: string) => Ask): Promise<Started> {
  const server = createServer()
  // Requests such as the list of models are not part of a turn.
  const asked = new Promise<number>((resolve) =>
    server.on('request', (request, response) => {
      request.resume()
      if (request.method === 'POST') resolve(performance.now())
      else response.end('{"object":"list","data":[]}')
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { program, args, env, cwd } = ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)
  const start = performance.now()
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => void said.push(text))
  const given = AbortSignal.timeout(PATIENCE)
  try {
    const ended = once(child, 'exit', { signal: given }).then(([code]) => {
      throw new Error(`${program} ended with ${code} before its first request: ${said.join('').slice(-500)}`)
    })
    const at = await Promise.race([asked, ended])
    return { ms: at - start, megabytes: child.pid === undefined ? undefined : residentMegabytes(child.pid) }
  } finally {
    if (child.pid !== undefined) endGroup(child.pid)
    server.closeAllConnections()
    server.close()
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

function residentMegabytes(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    const parent = /^\d+$/.test(entry) ? field(`/proc/${entry}/status`, 'PPid') : undefined
    if (parent !== undefined) parents.set(Number(entry), parent)
  }
  const sum = (pid: number): number =>
    [...parents].reduce((kB, [child, parent]) => kB + (parent === pid ? sum(child) : 0), field(`/proc/${pid}/smaps_rollup`, 'Pss') ?? 0)
  return sum(root) / 1024
}

/** A number from a file in /proc; undefined if the process has ended. */
function field(file: string, name: string): number | undefined {
  try {
    const value = new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(file, 'utf8'))?.[1]
    return value === undefined ? undefined : Number(value)
  } catch {
    return undefined
  }
}
