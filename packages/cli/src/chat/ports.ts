/** Buffers what the workspace reports until the chat that shows it is ready. */
import type { Notice, Ports } from '@mulligan/host/parts'
import { saveMemory } from '../memory.ts'
import { askedInWords, tellNotice } from '../ports.ts'
import type { Colors } from '../ui/colors.ts'
import type { ChatEnds } from './chat-types.ts'

export interface ChatPorts {
  readonly ports: {
    readonly ofWorkspace: Pick<Ports, 'report' | 'onEvent' | 'approve' | 'answer'>
    /** Shows lines from nobody in particular. */
    readonly tell: (text: string) => void
  }
  /** From here on the chat is told, and asked. */
  readonly connect: (chat: ChatEnds) => void
}

/** @param tellFirst shows what the user should read before the chat is on the screen */
export function chatPorts(colors: Colors, tellFirst: (line: string) => void): ChatPorts {
  let chat: ChatEnds | undefined
  const waiting: string[] = []
  const tell = (text: string): void => {
    if (chat) chat.tell(text)
    else waiting.push(text)
  }

  function report(notice: Notice): void {
    // The first lines of the chat say which model it is.
    if (notice.kind === 'model') return
    if (notice.kind === 'sandbox') chat?.onSandbox(notice.sandbox.backend)
    tellNotice(notice, notice.kind === 'withheld' && !chat ? tellFirst : tell)
  }

  return {
    ports: {
      tell,
      ofWorkspace: {
        report,
        onEvent: (event) => {
          if (event.type === 'finish-step') saveMemory()
          chat?.onEvent(event)
        },
        ...askedInWords(async (question, signal) => chat?.ask(question, signal), colors),
      },
    },
    connect: (to) => {
      chat = to
      for (const text of waiting.splice(0)) to.tell(text)
    },
  }
}
