/** Prints the descriptors that this process was started with, and those of a command in a sandbox. */
import { createSandbox } from '../../index.ts'
import { inheritedDescriptors } from './surroundings.ts'

const sandbox = await createSandbox({ workspace: process.argv[2] as string, backend: 'bubblewrap' })
const { stdout } = await sandbox.run({ script: 'cd /proc/self/fd && echo *' })
console.log(inheritedDescriptors().join(' '))
console.log(stdout.trim())
await sandbox.close()
