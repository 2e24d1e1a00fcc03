/** Measures the memory of the command after 300 steps of a turn that each read a file: resident, and the peak. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'session-memory: a turn that reads 300 files'
const READS = 300
const LINES = 300
const ROUNDS = 3
/** Resident megabytes. */
const AIM = 150
const CONTEXTS = [32_768, 200_000]
const bin = fileURLToPath(new URL('../packages/cli/bin/mulligan.js', import.meta.url))

interface Held {
  readonly resident: number
  readonly peak: number
}

function plant(folder: string): void {
  mkdirSync(join(folder, 'src'))
  for (let n = 1; n <= READS; n++) {
    const lines = Array.from({ length: LINES }, (_, at) => `export const value${at} = 'some text of file ${n}, line ${at}'`)
    writeFileSync(join(folder, 'src', `${n}.ts`), lines.join('\n'))
  }
}

/** The server-sent events of one reply. */
function reply(response: ServerResponse, step: number): void {
  const about = { id: `c${step}`, object: 'chat.completion.chunk', created: 0, model: 'any' }
  const call = { index: 0, id: `id${step}`, type: 'function', function: { name: 'read_file', arguments: `{"path":"src/${step}.ts"}` } }
  const [delta, reason] = step <= READS ? [{ tool_calls: [call] }, 'tool_calls'] : [{ content: 'Done.' }, 'stop']
  const chunks = [
    { ...about, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] },
    {
      ...about,
      choices: [{ index: 0, delta: {}, finish_reason: reason }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    },
  ]
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
}

async function heldAtTheEnd(folder: string, context: number): Promise<Held> {
  let step = 0
  let held: Held | undefined
  let pid: number | undefined
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      if (request.method !== 'POST') return void response.end('{"object":"list","data":[]}')
      step++
      if (step > READS && pid !== undefined) held = { resident: megabytes(pid, 'VmRSS'), peak: megabytes(pid, 'VmHWM') }
      reply(response, step)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const data = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  try {
    const limits = {
      MULLIGAN_LIMITS_REQUESTS: `${READS + 50}`,
      MULLIGAN_LIMITS_CALLS: `${READS + 50}`,
      MULLIGAN_LIMITS_TOKENS: '1000000000',
    }
    const child = spawn(process.execPath, [bin, 'run', 'Read all files.', '--model', 'any', '--base-url', baseUrl], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: data,
        MULLIGAN_DATA_DIR: join(data, 'data'),
        MULLIGAN_CONTEXT: `${context}`,
        ...limits,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    pid = child.pid
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-500)
    })
    const [code] = await once(child, 'close')
    if (code !== 0 || !held) throw new Error(`the turn ended with ${code} after ${step} requests: ${said}`)
    return held
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(data, { recursive: true, force: true })
  }
}

const megabytes = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

export async function bench(): Promise<Table> {
  if (process.platform !== 'linux') return { title: TITLE, note: 'Skipped: measured on Linux only.', rows: [] }
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  try {
    plant(folder)
    const rows: Row[] = []
    for (const context of CONTEXTS) {
      const all: Held[] = []
      for (let round = 0; round < ROUNDS; round++) all.push(await heldAtTheEnd(folder, context))
      const resident = median(all.map((one) => one.resident))
      rows.push({
        subject: `context of ${context.toLocaleString('en-US')} tokens`,
        values: { 'resident MB': resident, 'peak MB': median(all.map((one) => one.peak)) },
        aim: { says: `resident ≤ ${AIM} MB`, met: resident <= AIM },
      })
    }
    return { title: TITLE, note: `Files of ${LINES} lines, one per step; measured at request ${READS + 1}.`, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
