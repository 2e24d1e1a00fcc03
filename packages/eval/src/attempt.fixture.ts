/** Makes an attempt with the real tools, and returns what happened. */
import type { BackendName } from '@mulligan/sandbox'
import type { Happened } from './check.ts'
import { makePlace } from './place.ts'
import type { Attempt, EvalTask } from './task.ts'
import { openTools } from './tools.ts'

export interface Attempted extends Happened {
  /** The errors of the calls. */
  readonly errors: readonly string[]
}

export async function attempt(task: EvalTask, { steps, answer }: Attempt, backend: 'auto' | BackendName | undefined): Promise<Attempted> {
  await using place = await makePlace(task.files)
  await using open = openTools(place, task.shell || task.verify ? backend : undefined)
  const { tools, ran, run } = open
  const errors: string[] = []
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
}
