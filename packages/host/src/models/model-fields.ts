/** What a configuration file may say about a model: how it is sampled, how large its context is, how long it may think and be silent. */
import { z } from 'zod'

/** Seconds; timers take little more than three weeks. */
const MAX_IDLE = 86_400

export const modelFields = () =>
  z
    .strictObject({
      temperature: z.number().min(0).max(2).describe('How freely the next token is chosen. 0: always the likeliest.'),
      topP: z.number().min(0).max(1).describe('Of the likeliest tokens, the share of probability that is chosen from.'),
      topK: z.int().min(0).describe('How many of the likeliest tokens are chosen from.'),
      minP: z.number().min(0).max(1).describe('How likely a token must be, against the likeliest, to be chosen.'),
      presencePenalty: z.number().min(-2).max(2).describe('Against words that were there before.'),
      frequencyPenalty: z.number().min(-2).max(2).describe('Against words that were there often.'),
      context: z.int().min(1024).describe('Tokens of its context. `MULLIGAN_CONTEXT` overrides it. Default: what its server says.'),
      maxThinking: z
        .int()
        .min(0)
        .describe(
          'Tokens that it may think in one reply; 0 is no limit. Default: 8,192 and a quarter of the context at most; no limit in the cloud.',
        ),
      idleSeconds: z
        .number()
        .positive()
        .max(MAX_IDLE)
        .describe('Seconds without anything new after which a reply is given up. Default: 300, and 3,600 before the first token.'),
      opensInReasoning: z
        .boolean()
        .describe('Its text begins inside its thinking, and the server leaves it in: as `--opens-in-reasoning`.'),
    })
    .partial()

export type ModelFields = z.infer<ReturnType<typeof modelFields>>
