/** A small disk that can be full: a file system in memory, which only root can mount. */
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Disk } from './kills.fixture.ts'

const SIZE = 32 * 2 ** 20
/** Bytes written at once; what is left of the disk is less. */
const PIECE = 4096

export interface SmallDisk extends Disk, Disposable {}

/** @returns undefined if it can't be mounted; in CI, that is an error */
export function smallDisk(): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-disk-'))
  const { status, stderr } = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', folder], { encoding: 'utf8' })
  if (status !== 0) {
    rmSync(folder, { recursive: true })
    if (process.env['CI']) throw new Error(`a small disk can't be mounted: ${stderr}`)
    return undefined
  }
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill: () => {
      const file = openSync(ballast, 'w')
      try {
        for (const piece of [Buffer.alloc(SIZE / 16), Buffer.alloc(PIECE)]) writeAll(file, piece)
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]: () => {
      spawnSync('/bin/umount', ['-l', folder])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function writeAll(file: number, piece: Buffer): void {
  try {
    for (;;) if (writeSync(file, piece) < piece.byteLength) return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
