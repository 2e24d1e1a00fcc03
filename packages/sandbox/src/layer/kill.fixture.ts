/** A process with a layer, to be killed: it reports each step and waits there. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createSandbox } from '../index.ts'

const [, , workspace = '', stateFolder = '', until = ''] = process.argv
const sandbox = await createSandbox({ workspace, stateFolder, backend: 'bubblewrap' })
const reach = async (point: string) => {
  if (point !== until) return
  process.stdout.write(`${point}\n`)
  await sleep(600_000)
}
const layer = await sandbox.openLayer({ ignored: (paths) => paths.map(({ path }) => path).filter((path) => path === 'dist'), session: 's' })
await reach('opened')
const does = 'rm -rf src; echo x >a.txt; mkdir dist; echo x >dist/x; echo wrote'
const running = layer.run({ script: until === 'running' ? `${does}; sleep 1000` : does, onOutput: () => void reach('running') })
await running
await reach('ended')
await layer.keepIgnored()
await reach('settled')
await layer.wait('note')
await reach('waiting')
