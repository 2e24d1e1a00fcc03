/** An empty project of a stranger, with our packages as npm would publish them, and what goes with them from the registry. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packAll, ROOT } from '../packages/pack.ts'

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Project {
  readonly dir: string
  readonly write: (path: string, text: string) => void
  readonly run: (command: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>
  readonly remove: () => void
}

/** The versions that our own lockfile has, so that the test is the same tomorrow. */
const FROM_LOCKFILE = ['ai', 'zod', 'typescript', '@types/node', '@ai-sdk/openai-compatible']

/** @param more packages with their versions. @throws Error with npm's words, and what to do where there is no registry. */
export async function installProject(more: readonly string[]): Promise<Project> {
  const root = mkdtempSync(join(tmpdir(), 'mulligan-consumer-'))
  const [dir, tarballs] = [join(root, 'project'), join(root, 'tarballs')]
  for (const folder of [dir, tarballs]) mkdirSync(folder)
  const project: Project = {
    dir,
    write: (path, content) => writeFileSync(join(dir, path), content),
    run: (command, args, env = {}) => runIn(dir, command, args, env),
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
  try {
    await project.run('npm', ['init', '-y'])
    const packages = (await packAll(tarballs)).map(({ file }) => file)
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--save-exact', '--fetch-retries=1']
    const { code, err } = await project.run('npm', ['install', ...flags, ...packages, ...FROM_LOCKFILE.map(pinned), ...more])
    if (code !== 0) throw new Error(`npm install ended with ${code}. The registry must be in reach: npm config get registry.\n${err}`)
    return project
  } catch (error) {
    project.remove()
    throw error
  }
}

function pinned(name: string): string {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile
  const version = packages[`node_modules/${name}`]?.version
  if (version === undefined) throw new Error(`package-lock.json has no ${name}`)
  return `${name}@${version}`
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>
}

/** Of the run of the tests, and what would change how ours behave: not for a stranger's project. */
const NOT_PASSED_ON =
  /^(?:npm_(?!config_)|npm_config_(?:local_prefix|prefix|workspaces?)$|MULLIGAN_|OTEL_|VITEST|NODE_OPTIONS$|NODE_ENV$)|_API_KEY$/

/** Nothing of the repository is on its PATH but the Node that it runs with. */
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
