/** Changes without a record: made one after the other. */
import { rename, unlink } from 'node:fs/promises'
import { replaceFile } from '../files/common/file-bytes.ts'
import { makeDirectories } from '../workspace/contain.ts'
import type { ChangeLog } from './change.ts'

export const directChanges: ChangeLog = {
  async apply(_callId, changes) {
    for (const change of changes) {
      if (change.kind === 'write') await replaceFile(change.file, change.bytes, change.before)
      else if (change.kind === 'delete') await unlink(change.file.absolute)
      else if (change.kind === 'make_dir') await makeDirectories(change.directory.root, change.directory.absolute, [])
      else if (change.bytes) {
        await replaceFile(change.to, change.bytes, undefined)
        await unlink(change.from.absolute)
      } else await rename(change.from.absolute, change.to.absolute)
    }
  },
}
