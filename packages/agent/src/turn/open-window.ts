/** The window of a session, as a turn and a compaction by hand open it. */
import { type ContextWindow, createContextWindow } from '../context/window.ts'
import type { Preamble } from './preamble.ts'
import type { TurnContext } from './turn-context.ts'

export type OpenContext = Pick<TurnContext, 'turnId' | 'model' | 'history' | 'compaction' | 'calibration' | 'emit'>

export function openWindow(context: OpenContext, preamble: Preamble): ContextWindow {
  const { model, turnId, history, compaction, calibration, emit } = context
  return createContextWindow({
    target: {
      system: preamble.system,
      model: model.id,
      turnId,
      ...(model.model.provider.startsWith('anthropic') && { idPattern: /^[a-zA-Z0-9_-]+$/ }),
    },
    history,
    compaction,
    calibration,
    tools: preamble.sent,
    digestOf: (name) => preamble.tools.find((tool) => tool.name === name)?.digest,
    emit,
  })
}
