/** Simulates file system failures: every writing call first goes through a hook, which may throw or kill the process. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** `n` counts from 1. For a content that is written, `half` writes part of it. */
export type Hook = (n: number, what: string, half?: () => void) => void

type Writer = (this: unknown, ...args: unknown[]) => unknown
type Target = Record<string, Writer>

const FUNCTIONS = ['rename', 'unlink', 'mkdir', 'rmdir', 'link', 'symlink', 'writeFile', 'copyFile', 'utimes', 'open']
const METHODS = ['writeFile', 'chmod', 'chown', 'sync']
const OF_DESCRIPTORS = ['fchmodSync', 'fchownSync']

/** @returns a function that restores the original calls */
export async function interceptWrites(hook: Hook): Promise<() => void> {
  let count = 0
  const promises = fs.promises as unknown as Target
  const sync = fs as unknown as Target
  const probe = await fs.promises.open(process.execPath)
  const handles = Object.getPrototypeOf(probe) as Target
  await probe.close()
  const undo = [
    ...FUNCTIONS.map((name) =>
      replace(
        promises,
        name,
        (original) =>
          async function (...args) {
            if (name !== 'open' || writes(args[1])) hook(++count, `${name} ${String(args[0])}`)
            return original.apply(this, args)
          },
      ),
    ),
    ...METHODS.map((name) =>
      replace(
        handles,
        name,
        (original) =>
          async function (...args) {
            const { fd } = this as { readonly fd: number }
            hook(++count, `handle.${name}`, name === 'writeFile' ? () => fs.writeSync(fd, firstHalf(args[0])) : undefined)
            // Killing a process is not a power failure: written data is visible without a sync, and skipping it is faster.
            return name === 'sync' ? undefined : original.apply(this, args)
          },
      ),
    ),
    ...FUNCTIONS.map((name) =>
      replace(
        sync,
        `${name}Sync`,
        (original) =>
          function (...args) {
            const [at, content] = args
            const half = name === 'writeFile' && typeof at === 'number' ? () => fs.writeSync(at, firstHalf(content)) : undefined
            if (name !== 'open' || writes(content)) hook(++count, `${name} ${String(at)}`, half)
            return original.apply(this, args)
          },
      ),
    ),
    ...OF_DESCRIPTORS.map((name) =>
      replace(
        sync,
        name,
        (original) =>
          function (...args) {
            hook(++count, name)
            return original.apply(this, args)
          },
      ),
    ),
    replace(sync, 'fsync', () => (_, callback) => {
      hook(++count, 'fsync')
      ;(callback as (error: null) => void)(null)
    }),
  ]
  syncBuiltinESMExports()
  return () => {
    for (const one of undo) one()
    syncBuiltinESMExports()
  }
}

function replace(target: Target, name: string, by: (original: Writer) => Writer): () => void {
  const original = target[name] as Writer
  target[name] = by(original)
  return () => {
    target[name] = original
  }
}

const writes = (flags: unknown): boolean => typeof flags === 'string' && flags !== 'r'
const firstHalf = (content: unknown): Buffer => {
  const bytes = Buffer.from(content as Uint8Array)
  return bytes.subarray(0, Math.floor(bytes.length / 2))
}

export class Dead extends Error {}

/** From write `n` on, nothing reaches the disk, as if the process had been killed there. */
export const deadFrom =
  (from: number): Hook =>
  (n, what, half) => {
    if (n === from) half?.()
    if (n >= from) throw new Dead(`dead at ${n}: ${what}`)
  }

/** Only write `n` fails, as on a full disk. */
export const failingAt =
  (at: number): Hook =>
  (n, what, half) => {
    if (n !== at) return
    half?.()
    throw Object.assign(new Error(`no space: ${what}`), { code: 'ENOSPC' })
  }
