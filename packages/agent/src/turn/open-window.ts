/** Opens the context window of a session, for a turn or a manual compaction. */
import { type ContextWindow, createContextWindow } from '../context/window.ts'
import type { RequestPrefix } from './request-prefix.ts'
import type { TurnContext } from './turn-context.ts'

export type OpenContext = Pick<TurnContext, 'turnId' | 'model' | 'history' | 'compaction' | 'calibration' | 'emit'>

export function openWindow(context: OpenContext, prefix: RequestPrefix): ContextWindow {
  const { model, turnId, history, compaction, calibration, emit } = context
  return createContextWindow({
    target: {
      system: prefix.system,
      model: model.id,
      turnId,
      ...(model.model.provider.startsWith('anthropic') && { idPattern: /^[a-zA-Z0-9_-]+$/ }),
    },
    history,
    compaction,
    calibration,
    tools: prefix.sent,
    digestOf: (name) => prefix.tools.find((tool) => tool.name === name)?.digest,
    emit,
  })
}
