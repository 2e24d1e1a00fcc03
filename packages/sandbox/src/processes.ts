/** The process table, read once for all who ask at the same time. Linux by `/proc`, elsewhere by `ps`. */
import { readdirSync, readFileSync } from 'node:fs'
import { runProgram, systemProgram } from './program.ts'

export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Bytes of resident memory, shared pages in full. */
  readonly resident: number
  /** With the id, one process and no other that gets its id later. */
  readonly start: string
  readonly isZombie: boolean
}

const PAGE = 4096

let reading: Promise<ReadonlyMap<number, Process>> | undefined

export function processTable(): Promise<ReadonlyMap<number, Process>> {
  reading ??= (process.platform === 'linux' ? fromProc() : fromPs()).finally(() => {
    reading = undefined
  })
  return reading
}

/** Read in one go: a hundred small files through the thread pool take ten times as long. */
async function fromProc(): Promise<ReadonlyMap<number, Process>> {
  const table = new Map<number, Process>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const one = fromStat(readFileSync(`/proc/${name}/stat`, 'latin1'))
      if (one) table.set(one.pid, one)
    } catch {
      // Gone meanwhile.
    }
  }
  return table
}

/** `4242 (a name) R 1 …`; a name may hold brackets and spaces. */
export function fromStat(stat: string): Process | undefined {
  const end = stat.lastIndexOf(')')
  if (end === -1) return undefined
  const [state, ...fields] = stat.slice(end + 2).split(' ')
  const [parent = 0, group = 0, session = 0] = fields.map(Number)
  return {
    pid: Number.parseInt(stat, 10),
    parent,
    group,
    session,
    resident: Number(fields[20]) * PAGE,
    start: fields[18] ?? '',
    isZombie: state === 'Z',
  }
}

async function fromPs(): Promise<ReadonlyMap<number, Process>> {
  const { stdout } = await runProgram(systemProgram('ps') ?? '/bin/ps', ['-axo', 'pid=,ppid=,pgid=,sess=,rss=,stat=,lstart='])
  return new Map(
    stdout
      .split('\n')
      .flatMap((line) => fromPsLine(line) ?? [])
      .map((one) => [one.pid, one]),
  )
}

export function fromPsLine(line: string): Process | undefined {
  const [pid, parent, group, session, kilobytes, state, ...start] = line.trim().split(/\s+/)
  if (state === undefined) return undefined
  return {
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(session) || 0,
    resident: Number(kilobytes) * 1024,
    start: start.join(' '),
    isZombie: state.startsWith('Z'),
  }
}

/** `roots` and all that come from them. */
export function treeOf(roots: Iterable<number>, table: ReadonlyMap<number, Process>): ReadonlySet<number> {
  const children = Map.groupBy(table.values(), ({ parent }) => parent)
  const tree = new Set<number>()
  const open = [...roots]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (tree.has(pid) || !table.has(pid)) continue
    tree.add(pid)
    for (const child of children.get(pid) ?? []) open.push(child.pid)
  }
  return tree
}

/** To a process that may be gone meanwhile. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone meanwhile.
  }
}
