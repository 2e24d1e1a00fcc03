/** A program that keeps a command's changes and kills itself at a given write. Started by the kill test. */
import { createExecutor, modePolicy } from '@mulligan/core/executor'
import { createSandbox } from '@mulligan/sandbox'
import { interceptWrites } from '../../changes/fs-faults.fixture.ts'
import { createWorkspace } from '../../create-workspace.ts'
import { shellTools } from '../index.ts'

const [, , root = '', dir = '', stateFolder = '', command = '', at = '0'] = process.argv
const shell = shellTools({
  workspace: createWorkspace(root, { changes: { dir } }),
  layers: true,
  sandbox: () => createSandbox({ workspace: root, backend: 'bubblewrap', stateFolder }),
})
const executor = createExecutor({ tools: shell.tools, policy: modePolicy('ask') })
const prepared = await executor.prepare({ id: 's/1/1/0', step: 1, ordinal: 0, name: 'bash', input: { command } })
const performed = prepared.kind === 'ready' ? await executor.perform(prepared.call) : undefined
if (performed?.kind !== 'held') throw new Error('nothing to keep')
let writes = 0
const restore = await interceptWrites((n, _, half) => {
  writes = n
  if (n !== Number(at)) return
  half?.()
  process.kill(process.pid, 'SIGKILL')
})
const { result } = await executor.apply(performed, { answer: 'once' })
restore()
await shell.dispose()
process.stdout.write(JSON.stringify({ ok: result.ok, writes }))
