/** Does what an attempt says, with the real tools, and gives what happened. */
import type { BackendName } from '@mulligan/sandbox'
import type { Happened } from './check.ts'
import { makePlace } from './place.ts'
import type { Attempt, EvalTask } from './task.ts'
import { openTools } from './tools.ts'

export interface Attempted extends Happened {
  /** What calls failed with. */
  readonly errors: readonly string[]
}

export async function attempt(task: EvalTask, { steps, answer }: Attempt, backend: 'auto' | BackendName | undefined): Promise<Attempted> {
  const place = await makePlace(task.files)
  const { tools, ran, run, close } = openTools(place, task.shell || task.verify ? backend : undefined)
  const errors: string[] = []
  try {
    const { files: before } = await place.look()
    for (const [name, input] of steps.flat()) {
      const tool = tools.find((one) => one.name === name)
      const checked = await tool?.check.check(input)
      if (!tool || !checked?.ok) throw new Error(`${task.id}: ${name} ${JSON.stringify(input)} is not a call`)
      const context = { signal: new AbortController().signal, callId: 'x', idempotencyKey: 'x', attempt: 1, progress: () => undefined }
      try {
        await tool.execute(checked.value as never, context)
      } catch (error) {
        errors.push(`${name}: ${(error as Error).message}`)
      }
    }
    const exitCode = task.verify === undefined ? undefined : await run(task.verify)
    const { files: after, outsideChanged } = await place.look()
    return { answer, before, after, outsideChanged, ran, errors, ...(exitCode !== undefined && { exitCode }) }
  } finally {
    await close()
    await place.remove()
  }
}
