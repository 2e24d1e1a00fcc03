/**
 * Git's index holds, beside what is staged, when and where each file was last looked at. `git status` and `git diff` bring that up to
 * date, and on a layer it would be a change to decide about.
 */
import type { Change } from '@mulligan/sandbox'
import type { Contents } from './change-set.ts'

const INDEX = /(?:^|\/)\.git\/(?:.+\/)?index$/

/** Without the indexes in which nothing else changed. */
export async function withoutRefreshedIndexes(changes: readonly Change[], { before, after }: Contents): Promise<readonly Change[]> {
  const kept = await Promise.all(
    changes.map(async (change) => {
      const { path, kind, before: was, after: is } = change
      if (kind !== 'modified' || was?.type !== 'file' || is?.type !== 'file' || was.mode !== is.mode || !INDEX.test(path)) return [change]
      const [old, now] = [staged(await before(path)), staged(await after(path))]
      return old !== undefined && now !== undefined && old.equals(now) ? [] : [change]
    }),
  )
  return kept.flat()
}

const HEADER = 12
/** Times, device, inode; owner, group, size. The mode stands between them. */
const LOOKED_AT = [
  [0, 24],
  [28, 40],
] as const
const FLAGS = 60
const EXTENDED = 0x4000
const CHECKSUM = 20

/** The entries, without where and when. Undefined for what this does not read: another version, other object names, a split index. */
export function staged(bytes: Buffer): Buffer | undefined {
  if (bytes.length < HEADER + CHECKSUM || bytes.toString('latin1', 0, 4) !== 'DIRC' || ![2, 3].includes(bytes.readUInt32BE(4)))
    return undefined
  const copy = Buffer.from(bytes.subarray(0, -CHECKSUM))
  let at = HEADER
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (at + FLAGS + 2 > copy.length) return undefined
    for (const [from, to] of LOOKED_AT) copy.fill(0, at + from, at + to)
    const name = at + FLAGS + (copy.readUInt16BE(at + FLAGS) & EXTENDED ? 4 : 2)
    const end = copy.indexOf(0, name)
    if (end === -1) return undefined
    at += Math.ceil((end + 1 - at) / 8) * 8
  }
  const entries = copy.subarray(0, at)
  // What begins with a capital letter is a cache; nothing else can be left out.
  while (at + 8 <= copy.length) {
    if (!/^[A-Z]/.test(copy.toString('latin1', at, at + 1))) return undefined
    at += 8 + copy.readUInt32BE(at + 4)
  }
  return at === copy.length ? entries : undefined
}
