/** No walls: a process of the host, of which the tree is killed and the memory watched. Only by name. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { dirname } from 'node:path'
import type { Backend, Child, Enforcement, Exit, Launch, OpenBackend } from '../../backend.ts'
import type { Cell, Confinement } from '../../cgroup/confinement.ts'
import { openConfinement } from '../../cgroup/open.ts'
import { SandboxError } from '../../errors.ts'
import { owner } from '../../owner.ts'
import { startProgram } from '../../program.ts'
import { createStdio, type OpenStdio } from '../../stdio.ts'
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
    const openStdio = createStdio(dirname(view.tmpFolder))
    const running = new Set<Child>()
    return {
      name: 'none',
      enforces: enforcement(confinement),
      view: wholeMachine(view),
      launch: async (launch) => {
        const child = await start(launch, await confinement.cell(), openStdio, knowsAll(confinement))
        running.add(child)
        const forget = () => running.delete(child)
        child.exited.then(forget, forget)
        return child
      },
      close: async () => {
        await Promise.all([...running].map((child) => child.kill()))
        await confinement.close()
      },
    }
  },
}

async function start({ argv, cwd, env, stdin }: Launch, cell: Cell, openStdio: OpenStdio, isGroup: boolean): Promise<Child> {
  const value = `${owner()}.${randomUUID()}`
  const mark = `${MARK}=${value}`
  try {
    const { fds, stdout, stderr, spawned } = await openStdio(stdin)
    const [program = '', ...args] = cell.wrap(argv)
    const process = startProgram(program, args, { cwd, env: { ...env, [MARK]: value }, detached: true, stdio: [...fds] })
    spawned()
    const tree = process.pid === undefined ? undefined : createTree(process.pid, mark)
    const exited = once(process, 'exit').then(async ([exitCode, signal]): Promise<Exit> => {
      const limit = await cell.limitHit()
      return { exitCode, signal, ...(limit && { limit }) }
    })
    if (!tree) return await exited.then(() => Promise.reject(new Error('it has no process id')))
    cell.watch(process.pid as number)
    return {
      stdout,
      stderr,
      exited,
      kill: async () => {
        // Killed on its way in, it is in no cgroup yet.
        if (isGroup && process.exitCode === null && process.signalCode === null) {
          process.kill('SIGKILL')
          await exited
        }
        await cell.kill()
        if (!isGroup) await tree.kill()
        await cell.dispose()
      },
    }
  } catch (cause) {
    await cell.dispose()
    throw new SandboxError({ message: `${argv[0]} could not be started: ${(cause as Error).message}`, cause })
  }
}
