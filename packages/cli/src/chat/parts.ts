/** The modules of the chat, loaded when one is opened. */

export { droppedImages, mentionOf, mentionsIn } from '../mentions.ts'
export { openChat } from './chat.ts'
export { createClipboard } from './clipboard.ts'
export { completerFor } from './complete.ts'
export { openHistory } from './input/history.ts'
export { showPlain } from './plain.ts'
export { showChat } from './screen.tsx'
export { showPanel } from './show-panel.tsx'
