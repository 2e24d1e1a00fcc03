/** The sandbox of a folder: opened for the first command that needs it, closed with the session. */
import type { Enforcement, Sandbox, SandboxOptions } from '@mulligan/sandbox'
import { oneLine } from '../common/sanitize.ts'

/** `open` throws a SandboxError. `close` ends all commands for good. @param onOpen called once, to tell the user where commands run */
export function folderSandbox(options: SandboxOptions, onOpen: (sandbox: Sandbox) => void) {
  let opening: Promise<Sandbox> | undefined
  let closed = false

  async function begin(): Promise<Sandbox> {
    const { createSandbox, SandboxError } = await import('@mulligan/sandbox')
    if (closed) throw new SandboxError({ message: 'the session has ended and its sandbox is closed' })
    const sandbox = await createSandbox(options)
    onOpen(sandbox)
    return sandbox
  }

  return {
    open: () => {
      opening ??= begin().catch((error: unknown) => {
        // What was missing may be available the next time.
        opening = undefined
        throw error
      })
      return opening
    },
    close: async () => {
      closed = true
      const sandbox = await opening?.catch(() => undefined)
      await sandbox?.close()
    },
  }
}

/** Describes the sandbox in one line for the user, and what it does not enforce. */
export function sandboxLine({ backend, network, enforces }: Pick<Sandbox, 'backend' | 'network' | 'enforces'>): string {
  if (backend === 'none') return 'Commands run directly on this machine without a sandbox: they can do everything you can.'
  const where = `Commands run in a sandbox (${backend}${network === 'bridge' ? ', with the network' : ''}).`
  return [where, ...held('Not enforced', 'none', enforces), ...held('Approximate only', 'partial', enforces)].join(' ')
}

function held(says: string, hold: 'partial' | 'none', enforces: Enforcement): string[] {
  const named = Object.entries(enforces).filter(([, one]) => one.hold === hold)
  const text = named.map(([name, { by }]) => (hold === 'none' ? nameOf(name) : `${nameOf(name)} (${oneLine(by, 80)})`))
  return named.length === 0 ? [] : [`${says}: ${text.join(', ')}.`]
}

export const nameOf = (limit: string): string => (limit === 'treeKill' ? 'process tree' : limit)
