/** A process with sandboxes, to be killed: it opens one, starts what it is told, says `up`, and stays. */
import { createSandbox } from './sandbox.ts'

const [, , backend, workspace, ...scripts] = process.argv
const sandbox = await createSandbox({
  workspace: workspace as string,
  backend: backend as 'none',
  protect: ['.mulligan', 'mulligan.json'],
})
let started = 0
await Promise.all(
  scripts.map((script) =>
    sandbox.start({
      script,
      onOutput: () => {
        started++
        if (started === scripts.length) console.log('up')
      },
    }),
  ),
)
