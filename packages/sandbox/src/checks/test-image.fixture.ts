/** Builds a test image from this machine's own programs, so nothing is downloaded. */
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Engine } from '../backends/container/engine.ts'

const run = promisify(execFile)
const REPOSITORY = 'mulligan-test'
/** The image's name on the engines. */
export const TEST_IMAGE = `${REPOSITORY}:local`

/** Programs to include if the machine has them; busybox stands in for the rest. */
const PROGRAMS = ['bash', 'dash', 'git', 'setsid', 'prlimit', 'unshare', 'nproc', 'timeout', 'stdbuf', 'curl', 'perl']
const SHELLS = { dash: 'dash', bash: 'bash', busybox: 'busybox' } as const
export type Shell = keyof typeof SHELLS

/** Builds the image if it does not exist yet. @param shell the program to use as `/bin/sh` @returns its name */
export async function testImage({ api }: Engine, shell: Shell = 'dash'): Promise<string> {
  const programs = PROGRAMS.flatMap((name) => which(name) ?? [])
  const hash = createHash('sha256')
    .update(JSON.stringify([programs, process.version, shell, LAYOUT]))
    .digest('hex')
    .slice(0, 12)
  const tag = shell === 'dash' ? hash : `${shell}-${hash}`
  const image = `${REPOSITORY}:${tag}`
  const isThere = await api
    .getImage(image)
    .inspect()
    .then(
      () => true,
      () => false,
    )
  if (!isThere) {
    const root = await mkdtemp(join(tmpdir(), 'mulligan-image-'))
    try {
      await fill(root, shell === 'busybox' ? [] : [...programs, process.execPath], shell)
      const tar = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
      // Podman ignores a tag that is passed separately.
      const answer = await api.importImage(tar.stdout, { repo: image })
      for await (const _ of answer) {
      }
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  }
  if (shell !== 'dash') return image
  await api.getImage(image).tag({ repo: REPOSITORY, tag: 'local' })
  return TEST_IMAGE
}

const LAYOUT = 1

async function fill(root: string, programs: readonly string[], shell: Shell): Promise<void> {
  for (const folder of ['bin', 'usr/bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'root', 'run', 'var/tmp'])
    await mkdir(join(root, folder), { recursive: true })
  const busybox = which('busybox')
  if (busybox === undefined) throw new Error('the test image needs busybox (apt install busybox-static)')
  await copyFile(busybox, join(root, 'bin/busybox'))
  for (const name of (await run(busybox, ['--list'])).stdout.trim().split('\n'))
    if (name !== 'busybox') await symlink('busybox', join(root, 'bin', name))
  for (const program of programs) {
    await rm(join(root, 'bin', basename(program)), { force: true })
    await copyFile(program, join(root, 'usr/bin', program === process.execPath ? 'node' : basename(program)))
    for (const library of await libraries(program)) {
      await mkdir(join(root, dirname(library)), { recursive: true })
      if (!existsSync(join(root, library))) await copyFile(library, join(root, library))
    }
  }
  for (const name of ['sh', 'bash']) await rm(join(root, 'bin', name), { force: true })
  await symlink(shell === 'busybox' ? 'busybox' : `../usr/bin/${SHELLS[shell]}`, join(root, 'bin/sh'))
  if (shell !== 'busybox') await symlink('../usr/bin/bash', join(root, 'bin/bash'))
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n')
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nuser:x:1000:\n')
}

/** Returns the libraries at the paths where the loader finds them, which must be kept. */
async function libraries(program: string): Promise<readonly string[]> {
  const { stdout } = await run('ldd', [program]).catch(() => ({ stdout: '' }))
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+) \(/gm)].flatMap(([, path]) => path ?? [])
}

function which(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      if (!folder.includes('shims') && !folder.includes('node_modules')) return path
    } catch {
      // Try the next folder.
    }
  }
  return undefined
}
