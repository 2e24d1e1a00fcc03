/** LM Studio, on this machine or at `MULLIGAN_LMSTUDIO_URL`. */
import { openAt } from './local.ts'
import { server } from './servers/lmstudio.ts'

export { CONTEXT_TOKENS } from './openai-compatible.ts'
export const open = openAt(server)
