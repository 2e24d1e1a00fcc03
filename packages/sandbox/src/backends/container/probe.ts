/** Looks from the inside at what the engine really put in force: some leave out what the machine can't do, and say nothing. */
import type { Enforcement, Hold, OpenRequest } from '../../backend.ts'
import { SandboxError } from '../../errors.ts'
import { WORKER_PROCESSES } from './worker.ts'

/** One line for each thing: its name, and what is there. */
export const PROBE = `
first() { for f in "$@"; do [ -r "$f" ] && cat "$f" && return; done; echo; }
g=/sys/fs/cgroup
echo memory $(first $g/memory.max $g/memory/memory.limit_in_bytes)
echo swap $(first $g/memory.swap.max $g/memory/memory.memsw.limit_in_bytes)
echo processes $(first $g/pids.max $g/pids/pids.max)
echo cpu $(first $g/cpu.max $g/cpu/cpu.cfs_quota_us) $(first $g/cpu/cpu.cfs_period_us)
echo capabilities $(sed -n 's/^CapBnd:[^0-9a-f]*//p' /proc/self/status) $(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)
echo privileges $(sed -n 's/^NoNewPrivs:[^0-9]*//p' /proc/self/status)
echo seccomp $(sed -n 's/^Seccomp:[^0-9]*//p' /proc/self/status)
echo user $(sed -n 's/^Uid:[^0-9]*//p' /proc/self/status)
echo interfaces $(ls /sys/class/net)
`

export type Facts = Readonly<Record<string, readonly string[]>>

export const readFacts = (text: string): Facts =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .map(([name = '', ...values]) => [name, values]),
  )

export interface Asked extends Pick<OpenRequest, 'limits' | 'network' | 'user'> {
  /** Whether the filter is ours: an engine's own one looks at no file's mode. */
  readonly hasFilter: boolean
}

/** @throws SandboxError where a wall is missing that has to be there */
export function enforcement(facts: Facts, { limits, network, user, hasFilter }: Asked, engine: string): Enforcement {
  const isPowerless = (facts['capabilities'] ?? ['?']).every((mask) => /^0+$/.test(mask))
  if (!isPowerless) throw new SandboxError({ message: `${engine} gave a container capabilities that it was told to drop` })
  if (facts['privileges']?.[0] !== '1') throw new SandboxError({ message: `${engine} does not set no-new-privileges` })
  const uid = facts['user']?.[0]
  if (uid !== String(user.uid))
    throw new SandboxError({
      message: `${engine} can't run commands as uid ${user.uid}: they would be uid ${uid ?? '?'}`,
      remedy:
        'The kernel has to let containers make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone), or the workspace has to belong to another user than root.',
    })
  if (hasFilter && facts['seccomp']?.[0] !== '2') throw new SandboxError({ message: `the kernel of ${engine} filters no system calls` })
  const isCut = (facts['interfaces'] ?? ['?']).every((name) => name === 'lo')
  if (network === 'none' && !isCut)
    throw new SandboxError({ message: `${engine} gave a container a network that it was told to leave out` })

  const [memory = '', [swap = ''] = []] = [facts['memory']?.[0], facts['swap']]
  const [quota = '', period = ''] = facts['cpu'] ?? []
  const isWithin = (value: string, most: number): boolean => /^\d+$/.test(value) && Number(value) <= most
  const none = (what: string) => ({ hold: 'none' as Hold, by: `${engine} limits no ${what} on this machine` })
  return {
    files: hasFilter
      ? { hold: 'hard', by: 'read-only image, only the shared folders, seccomp' }
      : { hold: 'partial', by: 'read-only image, only the shared folders; no seccomp filter for this architecture' },
    network: network === 'none' ? { hold: 'hard', by: 'a network of its own without a way out' } : { hold: 'none', by: 'set to bridge' },
    memory: !isWithin(memory, limits.memory)
      ? none('memory')
      : // v1 counts memory and swap together, v2 swap alone.
        swap === '0' || isWithin(swap, limits.memory)
        ? { hold: 'hard', by: `cgroup of the container` }
        : { hold: 'partial', by: 'cgroup of the container; swap comes on top' },
    processes: isWithin(facts['processes']?.[0] ?? '', limits.processes + WORKER_PROCESSES)
      ? { hold: 'hard', by: 'cgroup of the container' }
      : none('processes'),
    cpu:
      /^\d+$/.test(quota) && Number(quota) <= limits.cpus * Number(period) * 1.01
        ? { hold: 'hard', by: 'cgroup of the container' }
        : none('cpu'),
    disk: { hold: 'partial', by: 'free space is read four times a second' },
    treeKill: { hold: 'hard', by: 'the container is removed' },
  }
}
