/** A test range that runs scripts in plain bash and reports what they changed or reached. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Canaries } from './fuzz.fixture.ts'

export interface Range extends Disposable {
  readonly workspace: string
  readonly canaries: Canaries
  /**
   * Runs a script in plain bash in the workspace.
   * @returns what it changed or reached
   */
  readonly effects: (script: string) => Promise<readonly string[]>
}

const FILES = { 'a.txt': 'one\ntwo\n', 'b.txt': 'one\nthree\n', 'src/c.txt': 'one\n' }

/** Creates a workspace, a folder outside it and a listener, to run scripts in. */
export async function openRange(): Promise<Range> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-fuzz-')))
  const [workspace, beside] = [join(root, 'workspace'), join(root, 'outside')]
  const restore = (): void => {
    for (const dir of [workspace, beside]) rmSync(dir, { recursive: true, force: true })
    mkdirSync(join(workspace, 'src'), { recursive: true })
    mkdirSync(beside)
    for (const [path, text] of Object.entries(FILES)) writeFileSync(join(workspace, path), text)
  }
  restore()
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const before = digest(root)
  return {
    workspace,
    canaries: { inside: 'canary', outside: join(beside, 'canary'), port },
    effects: async (script) => {
      connections = 0
      await runPlain(script, workspace)
      // Connections are accepted in order, so once ours is, the script's have been too.
      await new Promise((resolve) =>
        connect(port, '127.0.0.1')
          .resume()
          .on('error', () => undefined)
          .on('close', resolve),
      )
      const after = digest(root)
      const found = [...(after === before ? [] : ['files']), ...(connections > 1 ? ['connection'] : [])]
      if (after !== before) restore()
      return found
    },
    [Symbol.dispose]: () => {
      server.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Lists paths depth first, without following links, as a recursive `readdir` would. */
function below(path: string): readonly string[] {
  if (!lstatSync(path).isDirectory()) return [path]
  return [
    path,
    ...readdirSync(path)
      .sort()
      .flatMap((name) => below(join(path, name))),
  ]
}

/** Describes names, types and contents of everything below a folder and, with `times`, the modification times. */
export function digest(dir: string, times = false): string {
  const hash = createHash('sha256')
  for (const path of below(dir)) {
    const { mode, size, mtimeMs } = lstatSync(path)
    hash.update(`${path}\0${mode}\0${times ? mtimeMs : ''}\0`)
    if ((mode & 0o170000) === 0o100000) hash.update(`${size}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

export const runPlain = (script: string, cwd: string, home = cwd): Promise<void> =>
  new Promise((resolve) => {
    // A NUL would end the argument; in the middle of a script bash drops it, as passing the script on stdin shows.
    const child = spawn('bash', script.includes('\0') ? [] : ['-c', script], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: home, LC_ALL: 'C.UTF-8' },
      stdio: [script.includes('\0') ? 'pipe' : 'ignore', 'ignore', 'ignore'],
      timeout: 10_000,
      killSignal: 'SIGKILL',
      detached: true,
    })
    child.stdin?.on('error', () => undefined).end(script)
    child.on('close', () => {
      endGroup(child.pid)
      resolve()
    })
    child.on('error', () => resolve())
  })

/** Ends processes a script left running, which would otherwise be mistaken for the effects of the next script. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The process group has already ended.
  }
}
