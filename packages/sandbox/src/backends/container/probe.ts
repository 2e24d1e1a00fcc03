/** Checks from the inside what the engine actually enforces: some engines silently skip what the machine does not support. */
import type { Enforcement, OpenRequest } from '../../backend.ts'
import { SandboxError } from '../../command.ts'
import { WORKER_PROCESSES } from './worker.ts'

/** Prints one line per fact: its name and its value. */
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
  Object.fromEntries(Array.from(text.matchAll(/^\s*(\S+)(.*)$/gm), ([, name = '', values = '']) => [name, values.match(/\S+/g) ?? []]))

export interface Asked extends Pick<OpenRequest, 'limits' | 'network' | 'user'> {
  /** Whether the filter is ours: an engine's own filter does not check file modes. */
  readonly hasFilter: boolean
}

/** @throws SandboxError if a required protection is missing */
export function enforcement(facts: Facts, { limits, network, user, hasFilter }: Asked, engine: string): Enforcement {
  const refuse = (message: string, remedy?: string) => {
    throw new SandboxError({ message, ...(remedy !== undefined && { remedy }) })
  }
  const value = (name: string, at = 0): string => facts[name]?.[at] ?? ''
  const isPowerless = (facts['capabilities'] ?? ['?']).every((mask) => /^0+$/.test(mask))
  if (!isPowerless) refuse(`${engine} gave a container capabilities that it was told to drop`)
  if (value('privileges') !== '1') refuse(`${engine} does not set no-new-privileges`)
  const uid = value('user')
  if (uid !== String(user.uid))
    refuse(
      `${engine} can't run commands as uid ${user.uid}: they would be uid ${uid || '?'}`,
      'The kernel has to let containers make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone), or the workspace has to belong to another user than root.',
    )
  if (hasFilter && value('seccomp') !== '2') refuse(`the kernel of ${engine} does not filter system calls`)
  const isCut = (facts['interfaces'] ?? ['?']).every((name) => name === 'lo')
  if (network === 'none' && !isCut) refuse(`${engine} gave a container a network that it was told to leave out`)

  const isWithin = (name: string, most: number): boolean => /^\d+$/.test(value(name)) && Number(value(name)) <= most
  const held = (what: string, isHeld: boolean) =>
    isHeld
      ? ({ hold: 'hard', by: 'cgroup of the container' } as const)
      : ({ hold: 'none', by: `${engine} does not limit ${what} on this machine` } as const)
  const memory = held('memory', isWithin('memory', limits.memory))
  // v1 counts memory and swap together, v2 counts swap alone.
  const isSwapHeld = memory.hold === 'none' || value('swap') === '0' || isWithin('swap', limits.memory)
  return {
    files: hasFilter
      ? { hold: 'hard', by: 'read-only image, only the shared folders, seccomp' }
      : { hold: 'partial', by: 'read-only image, only the shared folders; no seccomp filter for this architecture' },
    network: network === 'none' ? { hold: 'hard', by: 'its own network, without a route out' } : { hold: 'none', by: 'set to bridge' },
    memory: isSwapHeld ? memory : { hold: 'partial', by: 'cgroup of the container; swap is not limited' },
    processes: held('processes', isWithin('processes', limits.processes + WORKER_PROCESSES)),
    cpu: held('cpu', isWithin('cpu', limits.cpus * Number(value('cpu', 1)) * 1.01)),
    disk: { hold: 'partial', by: 'free space is read four times a second' },
    treeKill: { hold: 'hard', by: 'the container is removed' },
  }
}
