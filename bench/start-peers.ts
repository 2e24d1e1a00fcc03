/** Compares start, memory and disk size with two other terminal agents, all installed from npm as by a user. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../scripts/packages/pack.ts'
import { type Ask, firstRequest } from './first-request.ts'
import { type Go, inTurns } from './measure.ts'
import { PEERS } from './peers.ts'
import { afterFirst, ourTurn, whole } from './start.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const TITLE = 'start-peers: compared with other terminal agents'
const ROUNDS = { warmUp: 1, rounds: 7 }

interface Subject {
  /** Arguments that print its version. */
  readonly program: string
  readonly version: readonly string[]
  readonly ask: (baseUrl: string) => Ask
  readonly diskMegabytes: number
}

/** Installs it separately, without install scripts. @returns the folder */
function install(root: string, name: string, packages: readonly string[]): string {
  const folder = join(root, name)
  mkdirSync(folder)
  npm(folder, ['init', '-y'])
  npm(folder, ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1', ...packages])
  return folder
}

function npm(cwd: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw error ?? new Error(`npm ${args[0]} ended with ${status}; the npm registry must be in reach: ${stderr}`)
}

function diskMegabytes(folder: string): number {
  const { status, stdout, stderr } = spawnSync('du', ['-sk', join(folder, 'node_modules')], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`du: ${stderr}`)
  return Number(stdout.split('\t')[0]) / 1024
}

async function subjects(root: string): Promise<Record<string, Subject>> {
  const tarballs = join(root, 'tarballs')
  mkdirSync(tarballs)
  // The packages that the command needs, which do not include the AI SDK package.
  const ours = (await packAll(tarballs)).filter(({ name }) => name !== '@mulligan/ai-sdk')
  const folder = install(
    root,
    'mulligan',
    ours.map(({ file }) => file),
  )
  const bin = join(folder, 'node_modules/mulligan/bin/mulligan.js')
  await afterFirst(bin)
  const all: Record<string, Subject> = {
    [`mulligan ${ours.find(({ name }) => name === 'mulligan')?.manifest.version}`]: {
      program: process.execPath,
      version: [bin, '--version'],
      ask: ourTurn(bin, folder),
      diskMegabytes: diskMegabytes(folder),
    },
  }
  for (const [name, { package: from, bin: command, ask }] of Object.entries(PEERS)) {
    const at = install(root, name, [from])
    const program = join(at, 'node_modules/.bin', command)
    all[from] = {
      program,
      version: ['--version'],
      ask: (baseUrl) => {
        const { args, env } = ask(baseUrl)
        return { program, args, env: { HOME: at, ...env }, cwd: at }
      },
      diskMegabytes: diskMegabytes(at),
    }
  }
  return all
}

export async function bench(): Promise<Table> {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-bench-'))
  try {
    let measured: Readonly<Record<string, Subject>>
    try {
      measured = await subjects(root)
    } catch (error) {
      return { title: TITLE, note: `Skipped: ${error instanceof Error ? error.message : String(error)}`, rows: [] }
    }
    const memory: Record<string, number[]> = {}
    const goes: Record<string, Go> = { 'node -e 0': whole(process.execPath, '-e', '0') }
    for (const [name, { program, version, ask }] of Object.entries(measured)) {
      const megabytes: number[] = []
      memory[name] = megabytes
      goes[`${name} --version`] = whole(program, ...version)
      goes[`${name} to its first request`] = async () => {
        const started = await firstRequest(ask)
        if (started.megabytes !== undefined) megabytes.push(started.megabytes)
        return [started.ms]
      }
    }
    const samples = await inTurns(goes, ROUNDS)
    const yardstick = median(samples['node -e 0'] as number[])
    const rows = Object.entries(measured).map(([name, { diskMegabytes }]): Row => {
      const [version, request] = ['--version', 'to its first request'].map((what) => median(samples[`${name} ${what}`] as number[]))
      const held = memory[name] ?? []
      const values = {
        '--version, ratio to node -e 0': (version as number) / yardstick,
        'first request, ratio to node -e 0': (request as number) / yardstick,
        'first request ms': request as number,
        ...(held.length > 0 && { 'memory MB then': median(held) }),
        'on the disk MB': diskMegabytes,
      }
      return { subject: name, values }
    })
    const note =
      'Medians of one interleaved run. Each agent is installed with npm in a separate folder, has a new home, and sends its request to a server on this machine that never replies.'
    return { title: TITLE, note, rows }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
