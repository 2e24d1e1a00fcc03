/**
 * Compares git index files by what is staged, ignoring file times and numbers. Git rewrites its index whenever somebody looks at the
 * repository (`git status`, an editor, a prompt): the bytes differ, but the meaning is the same. Pure.
 */
import { createHash } from 'node:crypto'

export const isIndex = (path: string): boolean => /(?:^|\/)\.git\/(?:worktrees\/[^/]+\/)?index$/.test(path)

/** Returns true if both stage the same. Returns false if either can't be read: an unsupported version or a damaged file. */
export function saySame(one: Buffer, other: Buffer): boolean {
  const [a, b] = [staged(one), staged(other)]
  return a !== undefined && a === b
}

const HEADER = 12
const HASH = 20
/** Times and numbers come before the mode; they may differ without a real change. */
const STAT = 24
const MODE = 4
/** Device, inode, owner, group and size surround the mode. */
const FIXED = 62
const EXTENDED = 0x4000
const NAME_LENGTH = 0xfff
/** Extensions that are required to understand the entries. Those in capitals are caches. */
const NEEDED = /^[a-z]/

function staged(bytes: Buffer): string | undefined {
  if (bytes.length < HEADER + HASH || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = bytes.readUInt32BE(4)
  const end = bytes.length - HASH
  const sum = bytes.subarray(end)
  // Also rejects an omitted checksum and one of another length.
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
