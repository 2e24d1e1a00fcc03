/** A process with sandboxes, to be killed: it opens a sandbox, starts the given commands, prints `up`, and keeps running. */
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
