/**
 * An ordinary user of a machine with systemd may not write cgroups, but may ask the user's own service manager for a scope: a
 * cgroup with limits, into which `systemd-run` goes before it becomes the command.
 */
import { readFile } from 'node:fs/promises'
import type { Limits } from '../limits.ts'
import { owner } from '../owner.ts'
import { runProgram, systemProgram } from '../program.ts'
import type { Cell, Confinement } from './confinement.ts'
import { findPlaces } from './find.ts'
import { oomKillsIn } from './group.ts'
import { watchCell } from './watch.ts'

/** Milliseconds; a manager that does not answer must not hold up the start. */
const PROBE_TIMEOUT = 5_000
/** Milliseconds between two looks at the events of the scope, which is gone as soon as it is empty. */
const INTERVAL = 100

/** Needed to reach the manager, and hidden from the command again. */
const BUS = ['XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'] as const
let made = 0

/** Undefined if there is no service manager of the user's, or it may not limit memory. */
export async function openSystemd(limits: Limits, hostEnv: Readonly<Record<string, string | undefined>>): Promise<Confinement | undefined> {
  const bus = BUS.flatMap((name) => (hostEnv[name] === undefined ? [] : [`${name}=${hostEnv[name]}`]))
  const program = systemProgram('systemd-run')
  if (process.platform !== 'linux' || bus.length === 0 || program === undefined) return undefined
  const wrap = (argv: readonly string[]) => scope(limits, program, bus, `mulligan-${owner()}-${made++}`, argv)
  if (!(await works(wrap, limits))) return undefined
  const held = (by: string) => ({ hold: 'hard', by: `systemd scope, ${by}` }) as const
  return {
    by: 'systemd-run',
    enforces: { memory: held('MemoryMax'), processes: held('TasksMax'), cpu: held('CPUQuota') },
    cell: async () => scopeCell(wrap, limits),
    close: async () => {},
  }
}

export function scope(
  { memory, processes, cpus }: Limits,
  program: string,
  bus: readonly string[],
  name: string,
  argv: readonly string[],
): readonly string[] {
  const properties = [
    `MemoryMax=${memory}`,
    'MemorySwapMax=0',
    `TasksMax=${processes}`,
    `CPUQuota=${Math.max(1, Math.round(cpus * 100))}%`,
  ].flatMap((property) => ['-p', property])
  const run = [program, '--user', '--scope', '--quiet', '--collect', `--unit=${name}`, ...properties, '--']
  return ['/usr/bin/env', ...bus, ...run, '/usr/bin/env', ...BUS.flatMap((variable) => ['-u', variable]), ...argv]
}

/** The limit has to be seen in the cgroup: a manager without the controller takes the property and does nothing. */
async function works(wrap: (argv: readonly string[]) => readonly string[], { memory }: Limits): Promise<boolean> {
  const [program = '', ...args] = wrap(['/bin/sh', '-c', 'cat "/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/memory.max"'])
  try {
    const { stdout } = await runProgram(program, args, { timeout: PROBE_TIMEOUT })
    // Rounded down to whole pages.
    return memory - Number(stdout) < 65_536 && stdout.trim() !== ''
  } catch {
    return false
  }
}

/** The scope limits; who looks at the processes as well can say afterwards that it did. */
function scopeCell(wrap: Cell['wrap'], { memory }: Limits): Cell {
  const watched = watchCell(memory)
  let timer: NodeJS.Timeout | undefined
  let wasKilled = false
  const look = async (pid: number) => {
    const cgroup = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
    const mountinfo = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
    const place = findPlaces(cgroup, mountinfo).find(({ controller }) => controller === 'memory')
    if (!place?.folder.includes('mulligan-')) return
    const events = await readFile(`${place.folder}/memory.events`, 'latin1').catch(() => '')
    wasKilled ||= oomKillsIn(events) > 0
  }
  return {
    wrap,
    watch: (pid) => {
      watched.watch(pid)
      timer = setInterval(() => void look(pid), INTERVAL)
    },
    limitHit: async () => (wasKilled ? 'memory' : watched.limitHit()),
    kill: watched.kill,
    dispose: async () => {
      clearInterval(timer)
      await watched.dispose()
    },
  }
}
