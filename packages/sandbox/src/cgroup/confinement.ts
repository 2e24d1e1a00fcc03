/** What holds a process tree to its memory, its number of processes and its cores: a cgroup, or whatever there is instead of one. */
import type { Enforcement } from '../backend.ts'

/** Of one sandbox. */
export interface Confinement {
  readonly by: 'cgroup v1' | 'cgroup v2' | 'systemd-run' | 'watch'
  /** `processes` and `cpu` are `none` where there is no cgroup: the backend may know another way. */
  readonly enforces: Pick<Enforcement, 'memory' | 'processes' | 'cpu'>
  /** For one command. */
  readonly cell: () => Promise<Cell>
  /** When its cells are disposed of: waits until they are gone. */
  readonly close: () => Promise<void>
}

/** Of one command: `spawn(cell.wrap(argv))`, `watch(pid)`, and `dispose` when it has ended. */
export interface Cell {
  /**
   * The same command, which first goes into the cell. It runs outside of every wall, as ourselves: put it before `setpriv`
   * and `bwrap`. The process id stays the same.
   */
  readonly wrap: (argv: readonly string[]) => readonly string[]
  /** Tells the cell which process it holds, where it has to look after it itself. */
  readonly watch: (pid: number) => void
  /** Ask after the command has ended. */
  readonly limitHit: () => Promise<'memory' | undefined>
  /** SIGKILL to all that is in it. Resolves when nothing is. */
  readonly kill: () => Promise<void>
  /** Kills and removes it; whatever was asked before stays answered. Never rejects. */
  readonly dispose: () => Promise<void>
}

export const withoutCgroup = { hold: 'none', by: 'there is no cgroup to write to' } as const
