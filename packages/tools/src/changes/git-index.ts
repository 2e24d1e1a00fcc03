/**
 * Git writes its index anew whenever somebody looks (`git status`, an editor, a prompt): other bytes that say the same. What is staged is
 * compared here, without the times and numbers of files. Pure.
 */
import { createHash } from 'node:crypto'

export const isIndex = (path: string): boolean => /(?:^|\/)\.git\/(?:worktrees\/[^/]+\/)?index$/.test(path)

/** False also where one can't be read: an index of another kind, a damaged one. */
export function saySame(one: Buffer, other: Buffer): boolean {
  const [a, b] = [staged(one), staged(other)]
  return a !== undefined && a === b
}

const HEADER = 12
const HASH = 20
/** Times and numbers, which differ without a difference, come before the mode. */
const STAT = 24
const MODE = 4
/** Device, inode, owner, group and size stand around the mode. */
const FIXED = 62
const EXTENDED = 0x4000
const NAME_LENGTH = 0xfff
/** Extensions without which the entries can't be understood; those in capitals are caches. */
const NEEDED = /^[a-z]/

function staged(bytes: Buffer): string | undefined {
  if (bytes.length < HEADER + HASH || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = bytes.readUInt32BE(4)
  const end = bytes.length - HASH
  const sum = bytes.subarray(end)
  // Also of another length of hash, or left out.
  if ((version !== 2 && version !== 3) || !createHash('sha1').update(bytes.subarray(0, end)).digest().equals(sum)) return undefined
  const hash = createHash('sha256')
  let at = HEADER
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (at + FIXED > end) return undefined
    const flags = bytes.readUInt16BE(at + FIXED - 2)
    const named = at + FIXED + (flags & EXTENDED ? 2 : 0)
    const stop = bytes.indexOf(0, named)
    if (stop === -1 || stop >= end || ((flags & NAME_LENGTH) !== NAME_LENGTH && stop - named !== (flags & NAME_LENGTH))) return undefined
    hash.update(bytes.subarray(at + STAT, at + STAT + MODE))
    hash.update(bytes.subarray(at + FIXED - 2 - HASH, stop + 1))
    at += Math.ceil((stop - at + 1) / 8) * 8
  }
  for (; at + 8 <= end; at += 8 + bytes.readUInt32BE(at + 4)) if (NEEDED.test(bytes.toString('latin1', at, at + 4))) return undefined
  return hash.digest('hex')
}
