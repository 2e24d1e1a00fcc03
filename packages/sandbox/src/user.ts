/** Chooses the user that commands run as. */
import { stat } from 'node:fs/promises'

/** The uid and gid that commands see for themselves if the workspace belongs to root. */
const UNPRIVILEGED = 1000

export interface User extends Ids {
  /**
   * What the host sees: the same IDs or, if the workspace belongs to root, root without capabilities. A uid of 1000 could not write
   * there.
   */
  readonly onHost: 'same' | 'root'
}

export interface Ids {
  readonly uid: number
  readonly gid: number
}

/** Returns the IDs of this process; 0 on Windows, which has none. */
const self = (): Ids => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 })

/**
 * Chooses the user. Root can run commands as another user; other users only as themselves.
 *
 * @param owner the owner of the workspace
 * @throws RangeError for a uid that is not available
 */
export function chooseUser(asked: number | 'auto', owner: Ids, own: Ids = self()): User {
  if (asked !== 'auto' && (!Number.isInteger(asked) || asked < 0 || asked > 0xfffffffe))
    throw new RangeError(`sandbox.user is ${asked}; it may be a uid or auto`)
  if (own.uid !== 0) {
    if (asked !== 'auto' && asked !== own.uid)
      throw new RangeError(`sandbox.user is ${asked}, but only root can run commands as somebody else; you are ${own.uid}: set it to auto`)
    return { ...own, onHost: 'same' }
  }
  if (asked === 'auto') return owner.uid === 0 ? root() : { ...owner, onHost: 'same' }
  return asked === 0 ? root() : { uid: asked, gid: asked === owner.uid ? owner.gid : asked, onHost: 'same' }
}

const root = (): User => ({ uid: UNPRIVILEGED, gid: UNPRIVILEGED, onHost: 'root' })

/** @throws RangeError */
export async function userOf(workspace: string, asked: number | 'auto'): Promise<User> {
  const { uid, gid } = await stat(workspace)
  return chooseUser(asked, { uid, gid })
}
