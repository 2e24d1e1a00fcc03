/** A process that makes one changeset and kills itself at a given write. The kill test runs it as a program. */

import { sha256 } from '../sha256.ts'
import type { Change, ChangeLog } from '../workspace/change.ts'
import { adoptionSteps } from './adopt.ts'
import { memoryBlobs } from './blobs.ts'
import { createChangeLog } from './change-log.ts'
import { resolved } from './changes.fixture.ts'
import { interceptWrites } from './fs-faults.fixture.ts'
import { planInHand } from './perform.ts'
import { toSteps } from './planner.ts'

/** Every kind of change, on the tree of the kill test. */
export const changesOf = (root: string): readonly Change[] => [
  { kind: 'write', file: resolved(root, 'a.txt'), bytes: Buffer.from('a, changed\n'), before: sha256('a\n') },
  { kind: 'write', file: resolved(root, 'new/deep/b.txt'), bytes: Buffer.from('b\n'), before: undefined },
  { kind: 'delete', file: resolved(root, 'gone.txt'), before: undefined },
  { kind: 'delete', file: resolved(root, 'empty', 'directory'), before: undefined },
  { kind: 'delete', file: resolved(root, 'link'), before: undefined },
  { kind: 'move', from: resolved(root, 'folder', 'directory'), to: resolved(root, 'moved'), before: undefined },
  { kind: 'move', from: resolved(root, 'run.sh'), to: resolved(root, 'moved/run.sh'), before: undefined, bytes: Buffer.from('exit 1\n') },
  { kind: 'make_dir', directory: resolved(root, 'folder') },
]

/** Shows what the journal is for: performs the same steps, but nothing rolls them back. */
const withoutJournal = (root: string): ChangeLog => ({
  apply: async (_, changes) => {
    const blobs = memoryBlobs(true)
    await planInHand(root, await toSteps(root, changes, blobs), blobs).perform()
  },
  adopt: async (_, open, changes) => {
    const blobs = memoryBlobs(true)
    await planInHand(root, await adoptionSteps(root, open, changes, blobs), blobs).perform()
  },
})

const { KILL_AT, KILL_ROOT, KILL_DIR, KILL_JOURNAL, KILL_WHAT } = process.env
if (KILL_AT && KILL_ROOT && KILL_DIR) {
  const log = createChangeLog({ dir: KILL_DIR, root: KILL_ROOT })
  const at = Number(KILL_AT)
  await interceptWrites((n, _, half) => {
    if (n !== at) return
    half?.()
    process.kill(process.pid, 'SIGKILL')
  })
  if (KILL_WHAT === 'undo') await log.undo('s/1')
  else if (KILL_WHAT === 'recover') await log.recover()
  else await (KILL_JOURNAL === 'off' ? withoutJournal(KILL_ROOT) : log).apply('s/1/1/0', changesOf(KILL_ROOT))
}
