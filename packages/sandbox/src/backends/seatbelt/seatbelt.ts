/** macOS: sandbox-exec, with a profile made for each sandbox. Written from Apple's documents and not yet tried on a Mac. */
import { existsSync } from 'node:fs'
import { realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Backend, Enforcement, Launch, OpenBackend } from '../../backend.ts'
import { SandboxError } from '../../errors.ts'
import type { View } from '../../view/view.ts'
import { none } from '../none/none.ts'
import { seatbeltProfile } from './profile.ts'

const PROGRAM = '/usr/bin/sandbox-exec'

export const seatbelt: Backend = {
  name: 'seatbelt',
  open: async (request) => {
    if (process.platform !== 'darwin') throw new SandboxError({ message: 'seatbelt is a part of macOS, which this is not' })
    if (!existsSync(PROGRAM))
      throw new SandboxError({ message: `${PROGRAM} does not exist`, remedy: 'Set sandbox.backend to docker or podman.' })
    const view = await inPlace(request.view)
    const profile = join(dirname(view.homeFolder), 'seatbelt.sb')
    await writeFile(profile, seatbeltProfile({ view, network: request.network }))
    // Processes, their end and their memory are those of the host.
    const host = await none.open({ ...request, view })
    const launch = ({ argv, ...rest }: Launch) => host.launch({ ...rest, argv: [PROGRAM, '-f', profile, ...argv] })
    const backend: OpenBackend = {
      name: 'seatbelt',
      enforces: enforcement(host.enforces, request.network),
      // Its profile names paths, whether anything is there or not.
      view: { ...view, absent: [] },
      launch,
      beside: (other) => seatbelt.open({ ...request, view: other, network: 'none' }),
      close: host.close,
    }
    try {
      await probe(backend, view)
    } catch (error) {
      await host.close()
      throw error
    }
    return backend
  },
}

/** Nothing can be shown at another place: home and tmp are named by the environment. */
async function inPlace(view: View): Promise<View> {
  const [homeFolder, tmpFolder] = [await realpath(view.homeFolder), await realpath(view.tmpFolder)]
  const folders = [homeFolder, tmpFolder].map((path) => ({ source: path, target: path, mode: 'read-write' as const }))
  const shown = view.mounts.map((mount) => (mount.orItself ? { ...mount, source: mount.target } : mount))
  const mounts = [...shown.filter(({ target }) => target !== view.home && target !== '/tmp'), ...folders]
  return { ...view, home: homeFolder, homeFolder, tmpFolder, mounts, env: { ...view.env, HOME: homeFolder, TMPDIR: tmpFolder } }
}

const enforcement = (host: Enforcement, network: 'none' | 'bridge'): Enforcement => ({
  ...host,
  files: { hold: 'partial', by: 'a profile of sandbox-exec, untried on a Mac' },
  network:
    network === 'none' ? { hold: 'partial', by: 'a profile of sandbox-exec, untried on a Mac' } : { hold: 'none', by: 'set to bridge' },
})

/** A profile that does not parse fails all commands; one that is not effective lets the last of these through. */
async function probe({ launch }: OpenBackend, view: View): Promise<void> {
  const outside = join(dirname(view.homeFolder), 'outside')
  const script = 'echo x > "$1" && ! (echo x > "$2") 2>/dev/null'
  const argv = ['/bin/sh', '-c', script, 'sh', join(view.tmpFolder, 'inside'), outside]
  const { stderr, exited, kill } = await launch({ argv, cwd: view.workspace, env: view.env, stdin: undefined })
  const [says, { exitCode }] = await Promise.all([text(stderr), exited])
  await kill()
  if (existsSync(outside)) throw new SandboxError({ message: 'sandbox-exec lets commands write outside of their folders' })
  if (exitCode !== 0) throw new SandboxError({ message: `sandbox-exec does not run a command: ${says.trim() || `exit code ${exitCode}`}` })
}
