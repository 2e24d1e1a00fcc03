/** Runs tests against Docker and Podman as installed on this machine, with an image made of its own programs. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Exit, OpenBackend, OpenRequest } from '../../backend.ts'
import { type Shell, testImage } from '../../checks/test-image.fixture.ts'
import type { EngineName } from '../../command.ts'
import { DEFAULT_SANDBOX_LIMITS } from '../../limits.ts'
import type { View } from '../../view/view.ts'
import { openContainers } from './backend.ts'
import { findDocker, findPodman } from './docker-podman.ts'
import type { Engine } from './engine.ts'

const FIND = { docker: () => findDocker(), podman: () => findPodman() } as const
const MB = 1024 * 1024

/** Without an engine, tests fail in CI; on a user's machine they are skipped with the reason. */
const reasons = Object.fromEntries(
  await Promise.all(
    (['docker', 'podman'] as const).map(async (name) => {
      try {
        await (await FIND[name]()).close()
        return [name, undefined]
      } catch (error) {
        return [name, String(error)]
      }
    }),
  ),
) as Readonly<Record<EngineName, string | undefined>>

export interface Fixture {
  readonly engine: () => Engine
  readonly workspace: string
  /** Opens a backend that is closed at the end. */
  readonly open: (changes?: Partial<OpenRequest> & { readonly shell?: Shell }) => Promise<OpenBackend>
}

export function describeEngines(title: string, tests: (fixture: Fixture, name: EngineName) => void): void {
  for (const name of ['docker', 'podman'] as const) {
    const reason = reasons[name]
    if (reason !== undefined && !process.env['CI']) describe.skip(`${title} (${name}: ${reason})`, () => {})
    else describe(`${title} (${name})`, () => tests(fixture(name), name))
  }
}

function fixture(name: EngineName): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-test-')))
  const folder = (one: string): string => {
    mkdirSync(join(root, one))
    return join(root, one)
  }
  const [workspace, homeFolder, tmpFolder] = [folder('workspace'), folder('home'), folder('tmp')]
  const mounts = [
    { source: homeFolder, target: '/home/user', mode: 'read-write' },
    { source: tmpFolder, target: '/tmp', mode: 'read-write' },
    { source: workspace, target: workspace, mode: 'read-write' },
  ] as const
  const view: View = {
    workspace,
    home: '/home/user',
    homeFolder,
    tmpFolder,
    mounts,
    containerMounts: mounts,
    links: [],
    absent: [],
    env: ENV,
  }
  const opened: OpenBackend[] = []
  let engine: Engine
  beforeAll(async () => {
    engine = await FIND[name]()
    await testImage(engine)
  }, 120_000)
  afterAll(async () => {
    await Promise.all(opened.map((one) => one.close()))
    await engine?.close()
    rmSync(root, { recursive: true, force: true })
  }, 60_000)
  return {
    engine: () => engine,
    workspace,
    open: async ({ shell = 'dash', ...changes } = {}) => {
      const request: OpenRequest = {
        view,
        limits: { ...DEFAULT_SANDBOX_LIMITS, memory: 256 * MB, processes: 64 },
        network: 'none',
        user: { uid: 1000, gid: 1000, onHost: 'root' },
        image: await testImage(engine, shell),
        ...changes,
      }
      const backend = await openContainers({ ...engine, close: async () => {} }, request)
      opened.push(backend)
      return backend
    },
  }
}

const ENV = { PATH: '/usr/bin:/bin', HOME: '/home/user' }

export interface Ended extends Exit {
  readonly stdout: string
  readonly stderr: string
}

export async function sh(
  backend: OpenBackend,
  script: string,
  more: { readonly stdin?: string; readonly cwd?: string } = {},
): Promise<Ended> {
  const child = await start(backend, script, more)
  const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), child.exited])
  await child.kill()
  return { stdout, stderr, ...exit }
}

export const start = (
  backend: OpenBackend,
  script: string,
  { stdin, cwd = '/' }: { readonly stdin?: string; readonly cwd?: string } = {},
) => backend.launch({ argv: ['/bin/sh', '-c', script], cwd, env: ENV, stdin: stdin === undefined ? undefined : Buffer.from(stdin) })
