/** A process that runs a command on a layer and keeps what it did, killed at a given write. Run as a program by the test. */
import { createSandbox } from '@mulligan/sandbox'
import { interceptWrites } from '../../changes/fs-faults.fixture.ts'
import { createWorkspace } from '../../workspace/workspace.ts'
import { openedOnce } from '../common/sandbox.ts'
import { createLayers } from './layers.ts'

/** Every kind of change, a commit among them. */
export const SCRIPT = `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
  export GIT_AUTHOR_DATE=2020-02-02T02:02:02Z GIT_COMMITTER_DATE=2020-02-02T02:02:02Z
  echo two > a.txt; rm -r src; mkdir -p new/deep; echo n > new/deep/n.txt; ln -s ../a.txt new/link; chmod 755 run.sh
  git add -A && git commit -qm two && git branch feature/x`

const { KILL_AT, KILL_ROOT, KILL_DATA } = process.env
if (KILL_AT && KILL_ROOT && KILL_DATA) {
  const sandbox = openedOnce(() => createSandbox({ workspace: KILL_ROOT, backend: 'bubblewrap', stateFolder: `${KILL_DATA}/layers` }))
  const layers = createLayers({ workspace: createWorkspace(KILL_ROOT, { changes: { dir: `${KILL_DATA}/changes` } }), sandbox })
  const { changes } = await layers.run({ script: SCRIPT })
  if (!changes) throw new Error('nothing was changed')
  const at = Number(KILL_AT)
  await interceptWrites((n, _, half) => {
    if (n !== at) return
    half?.()
    process.kill(process.pid, 'SIGKILL')
  })
  await layers.keep(changes, 's/1/1/0')
  await sandbox.close()
}
