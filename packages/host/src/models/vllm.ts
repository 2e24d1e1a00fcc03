/** vLLM, on this machine or at `MULLIGAN_VLLM_URL`. */
import { openAt } from './local.ts'
import { server } from './servers/vllm.ts'

export { CONTEXT_TOKENS } from './openai-compatible.ts'
export const open = openAt(server)
