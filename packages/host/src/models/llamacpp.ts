/** llama.cpp's server, on this machine or at `MULLIGAN_LLAMACPP_URL`. */
import { openAt } from './local.ts'
import { server } from './servers/llamacpp.ts'

export { CONTEXT_TOKENS } from './openai-compatible.ts'
export const open = openAt(server)
