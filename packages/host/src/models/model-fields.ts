/** What a configuration file may set for a model: sampling, context size, and how long it may think or be silent. */
import { z } from 'zod'

/** In seconds. Timers can wait a little over three weeks. */
const MAX_IDLE = 86_400

export const modelFields = () =>
  z
    .strictObject({
      temperature: z.number().min(0).max(2).describe('Sampling temperature; 0 always picks the most likely token.'),
      topP: z.number().min(0).max(1).describe('Nucleus sampling: the share of total probability to choose from.'),
      topK: z.int().min(0).describe('The number of most likely tokens to choose from.'),
      minP: z.number().min(0).max(1).describe('Minimum probability of a token, relative to the most likely one.'),
      presencePenalty: z.number().min(-2).max(2).describe('Penalty for tokens that have already appeared.'),
      frequencyPenalty: z.number().min(-2).max(2).describe('Penalty for tokens by how often they have appeared.'),
      context: z.int().min(1024).describe('Context size in tokens. `MULLIGAN_CONTEXT` overrides it. Default: as reported by the server.'),
      images: z
        .boolean()
        .describe(
          'Whether it takes images. Default: as reported by the server; if that is not known, they are sent until it refuses them.',
        ),
      maxThinking: z
        .int()
        .min(0)
        .describe(
          'Maximum thinking tokens per reply; 0 means no limit. Default: 8,192, at most a quarter of the context; no limit in the cloud.',
        ),
      idleSeconds: z
        .number()
        .positive()
        .max(MAX_IDLE)
        .describe('Seconds without new output before a reply is abandoned. Default: 300, and 3,600 before the first token.'),
      prices: z
        .strictObject({
          input: z.number().min(0).describe("Price of input, per million tokens. Ignored in a project's file."),
          output: z.number().min(0).describe("Price of output, including thinking. Ignored in a project's file."),
          cached: z
            .number()
            .min(0)
            .optional()
            .describe("Price of input from the provider's cache. Default: as other input. Ignored in a project's file."),
        })
        .describe("Prices per million tokens, in your currency, for `limits.cost` and `/cost`. A project's are ignored."),
      opensInReasoning: z
        .boolean()
        .describe('Replies start in thinking mode and the server does not remove the thinking; same as `--opens-in-reasoning`.'),
    })
    .partial()

export type ModelFields = z.infer<ReturnType<typeof modelFields>>
