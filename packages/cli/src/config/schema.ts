/** What may stand in a configuration file. */
import { DEFAULT_LIMITS } from '@mulligan/core'
import { commandFault } from '@mulligan/tools'
import { z } from 'zod'
import { approvalFields } from './approval-fields.ts'
import { modelFields } from './model-fields.ts'
import { once } from './once.ts'
import { sandboxFields } from './sandbox.ts'

const name = () => z.string().regex(/^[\w-]{1,40}$/, 'a name of letters, digits, _ and -')
const names = () => z.array(z.string().min(1))

/** An agent of one's own, also as the front matter of a Markdown file. */
export const agentFields = once(() =>
  z
    .strictObject({
      description: z.string().describe('What it is for, in a few words.'),
      prompt: z.string().describe('Its task, told to the model.'),
      tools: names().describe('The tools it has, by name, with `*`. Default: all.'),
      model: z.string().min(1).describe('Its model, as `PROVIDER/NAME`. It stands above `model`, a flag above it.'),
    })
    .partial(),
)
export type AgentFields = z.infer<ReturnType<typeof agentFields>>

/** Made only where something is checked: most starts have nothing to check. The description of a key is its documentation: `config explain`, docs/configuration.md and the JSON Schema show it. */
export const configSchema = once(() =>
  z
    .strictObject({
      $schema: z.string().describe('The JSON Schema of this file, for editors.'),
      model: z.string().min(1).describe('The model, as `PROVIDER/NAME`.'),
      baseUrl: z.string().min(1).describe('The address of its server. Not for `anthropic`, `openai` and `google`.'),
      models: z
        .record(z.string().min(1), modelFields())
        .describe('Settings of models, by `PROVIDER/NAME` with `*`. All that fit count; of two, the more exact one.'),
      agent: name().meta({ description: 'The named agent that does the work.', default: 'build' }),
      agents: z.record(name(), agentFields()).describe('Agents of your own, by name.'),
      tools: z
        .strictObject({
          lean: names().describe(
            'The tools that are in every request, in this order; the model finds the others with `find_tools`. Default: as many as fit.',
          ),
          off: names().describe('Tools that no agent has. Those of all files add up.'),
        })
        .partial()
        .describe('Which tools the model has.'),
      limits: z
        .strictObject({
          requests: z.int().min(1).meta({
            description: 'Model requests of a turn. The last one is sent without a choice of tools, so that the turn ends in words.',
            default: DEFAULT_LIMITS.requests,
          }),
          calls: z.int().min(1).meta({ description: 'Tool calls of a turn.', default: DEFAULT_LIMITS.calls }),
          tokens: z.int().min(1).describe('Tokens of a turn, sent and received. Default: no limit.'),
          cost: z.number().positive().describe('What a turn may cost, where its price is known. Default: no limit.'),
          seconds: z.number().positive().max(1_000_000).describe('Seconds a turn may take. Default: no limit.'),
        })
        .partial()
        .describe('The limits of a turn.'),
      web: z
        .strictObject({
          search: z
            .strictObject({
              provider: z.enum(['brave', 'tavily', 'searxng']).describe('The service that searches. Its key is in the environment.'),
              url: z
                .url({ protocol: /^https?$/ })
                .optional()
                .describe('Its address, where that is another than usual; needed for `searxng`.'),
            })
            .describe('Where `web_search` searches. Default: every service that the environment has a key or address for.'),
        })
        .partial()
        .describe('The tools for the web.'),
      diagnostics: z
        .array(
          z.strictObject({
            include: z.union([z.string().min(1), names().min(1)]).describe('The files that it checks, as a glob or several.'),
            command: z
              .array(z.string().min(1))
              .min(1)
              .superRefine((command, { addIssue }) => {
                const fault = commandFault(command)
                if (fault !== undefined) addIssue(fault)
              })
              .describe('A program with its arguments. `{file}` stands for the file.'),
            timeout: z.number().positive().max(600).optional().describe('Seconds it may take.'),
          }),
        )
        .describe('Commands that check a file after a change, in the sandbox. Those of all files add up, yours first.'),
      sandbox: sandboxFields().describe('The sandbox that commands run in.'),
      ...approvalFields(),
      remoteHosts: names().describe("Hosts to which a project's file may send the conversation."),
    })
    .partial(),
)
export type Config = z.infer<ReturnType<typeof configSchema>>
