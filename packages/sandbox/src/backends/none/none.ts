/**
 * Runs commands without isolation, as host processes. The process tree is killed at the end and its memory is watched. Used only if
 * requested explicitly.
 */
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import type { Backend, Child, Enforcement, Exit, Launch, OpenBackend } from '../../backend.ts'
import { onCores, openConfinement } from '../../cgroup/confinement.ts'
import type { Confinement } from '../../cgroup/watch.ts'
import { createTree, owner, send, sweepMarked } from '../../processes.ts'
import { systemProgram } from '../../program.ts'
import { createStandbys, quote, type Standby } from '../../run/standby.ts'
import type { View } from '../../view/view.ts'

/** An environment variable of each command that identifies its starter and the command. */
const MARK = 'MULLIGAN_SANDBOX_COMMAND'

const nothing = { hold: 'none', by: 'no sandbox was requested' } as const

/**
 * Returns whether a cgroup tracks everything that a command starts. If so, the process table need not be read, which takes
 * milliseconds each time.
 */
const knowsAll = ({ by }: Confinement): boolean => by === 'cgroup v1' || by === 'cgroup v2'

const enforcement = (confinement: Confinement): Enforcement => ({
  files: nothing,
  network: nothing,
  ...confinement.enforces,
  disk: { hold: 'partial', by: 'free space is read four times a second' },
  treeKill: {
    hold: 'partial',
    by: knowsAll(confinement) ? 'a cgroup, which root can leave' : 'descendants are looked up in the process table',
  },
})

/** Shows the whole machine. `/tmp` is shared by everyone, so `TMPDIR` points to the sandbox's own folder. */
const wholeMachine = (view: View): View => {
  const mounts = [{ source: '/', target: '/', mode: 'read-write' }] as const
  return { ...view, mounts, containerMounts: mounts, absent: [], env: { ...view.env, TMPDIR: view.tmpFolder } }
}

export const none: Backend = {
  name: 'none',
  open: async ({ view, limits }): Promise<OpenBackend> => {
    await sweepMarked(MARK)
    const confinement = await openConfinement(limits)
    const prefix = () => onCores(limits.cpus)
    const standbys = createStandbys({ folder: dirname(view.tmpFolder), confinement, prefix, spawn: { detached: true } })
    return {
      name: 'none',
      enforces: enforcement(confinement),
      view: wholeMachine(view),
      launch: (launch) => standbys.start((standby) => begin(launch, standby, knowsAll(confinement))),
      close: async () => {
        await standbys.close()
        await confinement.close()
      },
    }
  },
}

const ENV = systemProgram('env') ?? '/usr/bin/env'

async function begin({ argv, cwd, env, stdin }: Launch, standby: Standby, isGroup: boolean): Promise<Child> {
  const { pid, cell, isOver, ended, stdout, stderr } = standby
  const mark = `${MARK}=${owner()}.${randomUUID()}`
  const tree = createTree(pid, mark)
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  await standby.become([ENV, '-i', ...set, mark, ...argv], stdin, [`cd ${quote(cwd)}`])
  const exited = ended.then(async ([exitCode, signal]): Promise<Exit> => {
    const limit = await cell.limitHit()
    return { exitCode, signal, ...(limit && { limit }) }
  })
  const kill = async () => {
    // A process killed while it was entering the cgroup is not in it yet.
    if (isGroup && !isOver()) {
      send(pid, 'SIGKILL')
      await exited
    }
    await cell.kill()
    if (!isGroup) await tree.kill()
    // The cell is already empty; removing it takes the kernel a while, so don't wait.
    void cell.dispose()
  }
  return { stdout, stderr, exited, kill }
}
