/** The engine, as in `mulligan run`, with an empty session and without the user's configuration. */
import { callsOf, createAgent, memoryStore, textOf } from '@mulligan/agent'
import { createSpill } from '@mulligan/tools'
import { type ArmInput, type ArmOutcome, kindsOf } from './arm.ts'

export async function full({ configured, tools, dir, outputs, prompt, maxRequests, signal }: ArmInput): Promise<ArmOutcome> {
  /** The model's own text: the answer of the outcome may be written by the engine. */
  let answer = ''
  const agent = createAgent({
    model: configured.model,
    tools,
    store: memoryStore(),
    cwd: dir,
    limits: { requests: maxRequests },
    spill: createSpill(outputs),
    // The tools themselves refuse what is not allowed, in every arm.
    policy: () => ({ decision: 'allow', reason: 'an eval asks nobody' }),
    secrets: configured.secrets,
    onEvent: (event) => {
      if (event.type === 'message.completed') answer = callsOf(event.message).length > 0 ? '' : textOf(event.message)
    },
  })
  const { status, stoppedBy, calls } = await agent.run({ prompt, signal })
  signal.throwIfAborted()
  const repaired = calls.map(({ repairs }) => kindsOf(repairs)).filter((kinds) => kinds.length > 0)
  const more = { calls: calls.length, repaired }
  if (status === 'answered') return { ended: 'answered', answer, ...more }
  if (stoppedBy === 'provider' || stoppedBy === 'empty') return { ended: stoppedBy, answer: '', ...more }
  return { ended: stoppedBy === 'loop' ? 'loop' : 'requests', answer, ...more }
}
