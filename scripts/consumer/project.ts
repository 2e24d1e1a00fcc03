/** Creates an empty project, and installs packages in it. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ROOT } from '../packages/pack.ts'

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Project extends AsyncDisposable {
  readonly dir: string
  /** What npm printed when it installed the packages. */
  readonly installed: Ran
  readonly write: (path: string, text: string) => void
  readonly run: (command: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>
}

/** @param packages tarballs, or names with their versions. @throws Error with npm's message, and what to do without a registry. */
export async function installProject(packages: readonly string[], flags: readonly string[] = []): Promise<Project> {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-consumer-'))
  const dir = join(root, 'project')
  mkdirSync(dir)
  const run: Project['run'] = (command, args, env = {}) => runIn(dir, command, args, env)
  const remove = () => rm(root, { recursive: true, force: true })
  try {
    await run('npm', ['init', '-y'])
    const common = ['--no-audit', '--no-fund', '--prefer-offline', '--save-exact', '--fetch-retries=1']
    const installed = await run('npm', ['install', ...common, ...flags, ...packages])
    if (installed.code !== 0)
      throw new Error(`npm install exited with ${installed.code}. It needs the registry: npm config get registry.\n${installed.err}`)
    return { dir, installed, run, write: (path, content) => writeFileSync(join(dir, path), content), [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The version in our own lockfile, so that the test is reproducible. */
export function pinned(name: string): string {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile
  const version = packages[`node_modules/${name}`]?.version
  if (version === undefined) throw new Error(`package-lock.json has no ${name}`)
  return `${name}@${version}`
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>
}

/** Variables of the test run, and those that change the behavior of our packages; not passed to the project. */
const NOT_PASSED_ON =
  /^(?:npm_(?!config_)|npm_config_(?:local_prefix|prefix|workspaces?)$|MULLIGAN_|OTEL_|VITEST|NODE_OPTIONS$|NODE_ENV$)|_API_KEY$/

/** Its PATH contains nothing of the repository except the Node that it runs with. */
async function runIn(dir: string, command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_PASSED_ON.test(name)))
  const path = (own['PATH'] ?? '').split(':').filter((folder) => !folder.startsWith(ROOT))
  const PATH = [dirname(process.execPath), ...path].join(':')
  const child = spawn(command, args, {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...own, PATH, MULLIGAN_DATA_DIR: join(dir, '..', 'data'), NO_COLOR: '1', ...env },
  })
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, out, err }
}
