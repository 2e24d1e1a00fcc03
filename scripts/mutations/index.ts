/** Every rule that `npm run mutate` removes. */
import { ADAPTERS } from './adapters.ts'
import { AGENT } from './agent.ts'
import { AI_SDK } from './ai-sdk.ts'
import { APPROVAL } from './approval.ts'
import { ASSISTANT } from './assistant.ts'
import { CHAT } from './chat.ts'
import { CONFIG } from './config.ts'
import { CONTRACT } from './contract.ts'
import { EGRESS } from './egress.ts'
import { LAYER } from './layer.ts'
import { MCP } from './mcp.ts'
import { MODEL_SERVERS } from './model-servers.ts'
import type { Mutation } from './mutation.ts'
import { OLLAMA } from './ollama.ts'
import { REPAIR } from './repair.ts'
import { SANDBOX } from './sandbox.ts'
import { SERVER } from './server.ts'
import { SHELL } from './shell.ts'
import { TOOLS } from './tools.ts'
import { TRUST } from './trust.ts'
import { TURN } from './turn.ts'

export const MUTATIONS: readonly Mutation[] = [
  ...CONTRACT,
  ...REPAIR,
  ...AGENT,
  ...AI_SDK,
  ...ADAPTERS,
  ...APPROVAL,
  ...TOOLS,
  ...SANDBOX,
  ...SHELL,
  ...LAYER,
  ...OLLAMA,
  ...MODEL_SERVERS,
  ...CHAT,
  ...CONFIG,
  ...EGRESS,
  ...TRUST,
  ...TURN,
  ...MCP,
  ...SERVER,
  ...ASSISTANT,
]
