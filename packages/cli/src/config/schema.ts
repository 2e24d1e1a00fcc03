/** What may stand in a configuration file. */
import { commandFault } from '@mulligan/tools'
import { z } from 'zod'
import { approvalFields } from './approval-fields.ts'
import { sandboxFields } from './sandbox.ts'

const name = z.string().regex(/^[\w-]{1,40}$/, 'a name of letters, digits, _ and -')
const names = z.array(z.string().min(1))

/** An agent of one's own, also as the front matter of a Markdown file. */
export const agentFields = z
  .strictObject({
    description: z.string(),
    /** Its task, told to the model. */
    prompt: z.string(),
    /** Names of tools, with `*`. Default: all. */
    tools: names,
    model: z.string().min(1),
  })
  .partial()
export type AgentFields = z.infer<typeof agentFields>

export const configSchema = z
  .strictObject({
    model: z.string().min(1),
    baseUrl: z.string().min(1),
    agent: name,
    agents: z.record(name, agentFields),
    tools: z.strictObject({ lean: names, off: names }).partial(),
    limits: z
      .strictObject({
        requests: z.int().min(1),
        calls: z.int().min(1),
        tokens: z.int().min(1),
        cost: z.number().positive(),
        seconds: z.number().positive().max(1_000_000),
      })
      .partial(),
    web: z
      .strictObject({
        search: z.strictObject({ provider: z.enum(['brave', 'tavily', 'searxng']), url: z.url({ protocol: /^https?$/ }).optional() }),
      })
      .partial(),
    diagnostics: z.array(
      z.strictObject({
        include: z.union([z.string().min(1), names.min(1)]),
        command: z
          .array(z.string().min(1))
          .min(1)
          .superRefine((command, { addIssue }) => {
            const fault = commandFault(command)
            if (fault !== undefined) addIssue(fault)
          }),
        timeout: z.number().positive().max(600).optional(),
      }),
    ),
    sandbox: sandboxFields,
    ...approvalFields,
    /** Hosts to which a project's file may send a conversation. */
    remoteHosts: names,
  })
  .partial()
export type Config = z.infer<typeof configSchema>

/** What only the person's own file may say: it decides where data goes. */
export const PERSONAL: readonly (keyof Config)[] = ['remoteHosts', 'web']
