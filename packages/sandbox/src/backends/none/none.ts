/** No walls: a process of the host, of which the tree is killed and the memory watched. Only by name. */
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import type { Backend, Child, Enforcement, Exit, Launch, OpenBackend } from '../../backend.ts'
import type { Confinement } from '../../cgroup/confinement.ts'
import { onCores } from '../../cgroup/cores.ts'
import { openConfinement } from '../../cgroup/open.ts'
import { owner } from '../../owner.ts'
import { send } from '../../processes.ts'
import { systemProgram } from '../../program.ts'
import { createStandbys, quote, type Standby } from '../../run/standby.ts'
import { createStdio } from '../../stdio.ts'
import { createTree, sweepMarked } from '../../tree.ts'
import type { View } from '../../view/view.ts'

/** In the environment of each command: who started it, and which one it is. */
const MARK = 'MULLIGAN_SANDBOX_COMMAND'

const nothing = { hold: 'none', by: 'no sandbox was asked for' } as const

/** Whether a cgroup knows all that a command has started: the process table, of which each look takes milliseconds, need not be asked. */
const knowsAll = ({ by }: Confinement): boolean => by === 'cgroup v1' || by === 'cgroup v2'

const enforcement = (confinement: Confinement): Enforcement => ({
  files: nothing,
  network: nothing,
  ...confinement.enforces,
  disk: { hold: 'partial', by: 'free space is read four times a second' },
  treeKill: {
    hold: 'partial',
    by: knowsAll(confinement) ? 'a cgroup, which nothing keeps root in' : 'descendants are looked up in the process table',
  },
})

/** All of the machine. `/tmp` is everybody's, so the sandbox's own is named by `TMPDIR`. */
const wholeMachine = (view: View): View => {
  const mounts = [{ source: '/', target: '/', mode: 'read-write' }] as const
  return { ...view, mounts, containerMounts: mounts, absent: [], env: { ...view.env, TMPDIR: view.tmpFolder } }
}

export const none: Backend = {
  name: 'none',
  open: async ({ view, limits }): Promise<OpenBackend> => {
    await sweepMarked(MARK)
    const confinement = await openConfinement(limits)
    const folder = dirname(view.tmpFolder)
    const standbys = createStandbys({
      folder,
      confinement,
      openStdio: createStdio(folder),
      prefix: () => onCores(limits.cpus),
      spawn: { detached: true },
    })
    const running = new Set<Child>()
    return {
      name: 'none',
      enforces: enforcement(confinement),
      view: wholeMachine(view),
      launch: async (launch) => {
        const child = await start(launch, await standbys.take(), knowsAll(confinement))
        running.add(child)
        const forget = () => running.delete(child)
        child.exited.then(forget, forget)
        return child
      },
      close: async () => {
        await Promise.all([...running].map((child) => child.kill()))
        await standbys.close()
        await confinement.close()
      },
    }
  },
}

const ENV = systemProgram('env') ?? '/usr/bin/env'

async function start({ argv, cwd, env, stdin }: Launch, standby: Standby, isGroup: boolean): Promise<Child> {
  const { pid, cell, isOver, ended, stdout, stderr } = standby
  const mark = `${MARK}=${owner()}.${randomUUID()}`
  const tree = createTree(pid, mark)
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  await standby.become({ argv: [ENV, '-i', ...set, mark, ...argv], stdin, before: [`cd ${quote(cwd)}`] })
  const exited = ended.then(async ([exitCode, signal]): Promise<Exit> => {
    const limit = await cell.limitHit()
    return { exitCode, signal, ...(limit && { limit }) }
  })
  return {
    stdout,
    stderr,
    exited,
    kill: async () => {
      // Killed on its way in, it is in no cgroup yet.
      if (isGroup && !isOver()) {
        send(pid, 'SIGKILL')
        await exited
      }
      await cell.kill()
      if (!isGroup) await tree.kill()
      // Nothing is in it any more; the kernel takes its time to remove it.
      void cell.dispose()
    },
  }
}
