/** The image in the clipboard of the desktop, read by the program that does so there. */
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Env, UsageError } from '@mulligan/host/light'
import { resolveProgram, startProgram } from '@mulligan/sandbox'

/** Bytes of an image that are read. Larger ones are refused later, with their size. */
const MAX_BYTES = 32 * 1024 * 1024
/** Milliseconds that a reader may take. */
const PATIENCE = 5000
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])

interface Reader {
  readonly program: string
  readonly args: readonly string[]
  /** Where the program comes from, for a person who does not have it. */
  readonly from: string
}

/** Returns what reads a PNG image from the clipboard here; undefined if there is no clipboard. */
function readerFor(platform: NodeJS.Platform, env: Env): Reader | undefined {
  if (platform === 'darwin') return { program: 'osascript', args: ['-e', 'get the clipboard as «class PNGf»'], from: 'macOS' }
  if (env['WAYLAND_DISPLAY']) return { program: 'wl-paste', args: ['--type', 'image/png'], from: 'the package wl-clipboard' }
  if (env['DISPLAY']) return { program: 'xclip', args: ['-selection', 'clipboard', '-t', 'image/png', '-o'], from: 'the package xclip' }
  return undefined
}

const INSTEAD = 'Drop the file on the terminal, or name it: @picture.png'

/** Reads images from the clipboard into files that only the user can read, and that are gone after `close`. */
export function createClipboard(env: Env, workspace: string, platform: NodeJS.Platform = process.platform) {
  let folder: string | undefined
  let count = 0

  return {
    /** @returns the path of a PNG file @throws UsageError */
    async image(signal: AbortSignal): Promise<string> {
      const reader = readerFor(platform, env)
      if (!reader) throw new UsageError('no clipboard can be reached from this terminal', INSTEAD)
      const program = resolveProgram(reader.program, { path: env['PATH'], workspace })
      if (program === undefined) throw new UsageError(`${reader.program} is not installed`, `It comes with ${reader.from}. ${INSTEAD}`)
      const image = pngIn(await outputOf(program, reader.args, env, signal))
      if (!image) throw new UsageError('there is no image in the clipboard', INSTEAD)
      folder ??= mkdtempSync(join(tmpdir(), 'mulligan-clipboard-'))
      const path = join(folder, `pasted-${++count}.png`)
      await writeFile(path, image, { mode: 0o600, flag: 'wx' })
      return path
    },
    close(): void {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
      folder = undefined
    },
  }
}

/** Returns the image in what a reader printed. AppleScript prints it as `«data PNGf89504E47…»`. */
export function pngIn(printed: Buffer): Buffer | undefined {
  if (printed.subarray(0, PNG.length).equals(PNG)) return printed
  const [, hex] = /^«data PNGf([0-9A-F]+)»\s*$/i.exec(printed.toString('utf8')) ?? []
  return hex === undefined ? undefined : Buffer.from(hex, 'hex')
}

/** Returns what the program prints; nothing if it fails, prints too much, or takes too long. */
function outputOf(program: string, args: readonly string[], env: Env, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve) => {
    const stop = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)])
    const child = startProgram(program, args, { env: { ...env }, stdio: ['ignore', 'pipe', 'ignore'], signal: stop })
    const chunks: Buffer[] = []
    let size = 0
    /** Ends what the program started, too: it can write to nobody any more. */
    const giveUp = (): void => {
      child.kill()
      child.stdout.destroy()
      resolve(Buffer.alloc(0))
    }
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BYTES) giveUp()
      else chunks.push(chunk)
    })
    child.on('error', giveUp)
    child.on('close', (code) => resolve(code === 0 ? Buffer.concat(chunks) : Buffer.alloc(0)))
  })
}
