/** The schema of a configuration file. */
import { DEFAULT_LIMITS } from '@mulligan/core'
import { commandFault } from '@mulligan/tools'
import { z } from 'zod'
import { memoize } from '../common/memoize.ts'
import { modelFields } from '../models/model-fields.ts'
import { approvalFields } from './approval-fields.ts'
import { add, fallback, key, keys, local, lower, type ProjectRule, ruleAt, rulesOf, set, trusted, user } from './project-rules.ts'
import { hostOfModel, hostOfUrl } from './redirect.ts'
import { sandboxFields } from './sandbox.ts'

const name = () => z.string().regex(/^[\w-]{1,40}$/, 'a name of letters, digits, _ and -')
const names = () => z.array(z.string().min(1))

const ownAgent = add('may add some; yours keep their names')
const goesElsewhere = user('decides where data goes')

/** An agent of one's own, also as the front matter of a Markdown file. */
export const agentFields = memoize(() =>
  keys({
    description: key(z.string().describe('A short description.'), ownAgent),
    prompt: key(z.string().describe('The instructions for the model.'), ownAgent),
    tools: key(names().describe('The tools it has, by name, with `*`. Default: all.'), ownAgent),
    model: key(z.string().min(1).describe('Its model, as `PROVIDER/NAME`. It overrides `model`, a flag above it.'), local(hostOfModel)),
  }),
)
export type AgentFields = z.infer<ReturnType<typeof agentFields>>

/**
 * Made only where something is checked: most starts have nothing to check. The description of a key is its documentation: `config explain`,
 * docs/configuration.md and the JSON Schema show it. Beside each key stands what a project's file may do with it.
 */
export const configSchema = memoize(() =>
  keys({
    $schema: key(z.string().describe('The JSON Schema of this file, for editors.'), set),
    model: key(z.string().min(1).describe('The model, as `PROVIDER/NAME`.'), local(hostOfModel)),
    baseUrl: key(z.string().min(1).describe('The address of its server. Not for `anthropic`, `openai` and `google`.'), local(hostOfUrl)),
    models: key(
      z
        .record(z.string().min(1), modelFields())
        .describe('Settings of models, by `PROVIDER/NAME` with `*`. All matching entries apply; the most specific wins.'),
      set,
    ),
    agent: key(name().meta({ description: 'The agent to use.', default: 'build' }), fallback),
    agents: key(z.record(name(), agentFields()).describe('Your own agents, by name.'), ownAgent, agentFields()),
    tools: keys(
      {
        lean: key(
          names().describe(
            'The tools that are in every request, in this order; the model finds the others with `find_tools`. Default: as many as fit.',
          ),
          set,
        ),
        off: key(names().describe('Tools that no agent may use. The lists of all files are combined.'), add('may add some')),
      },
      'Which tools the model has.',
    ),
    limits: keys(
      {
        requests: key(
          z.int().min(1).meta({
            description: 'Maximum model requests per turn. The last request allows no tool calls, so that the turn ends with an answer.',
            default: DEFAULT_LIMITS.requests,
          }),
          lower('limits.requests', DEFAULT_LIMITS.requests),
        ),
        calls: key(
          z.int().min(1).meta({ description: 'Maximum tool calls per turn.', default: DEFAULT_LIMITS.calls }),
          lower('limits.calls', DEFAULT_LIMITS.calls),
        ),
        tokens: key(
          z.int().min(1).describe('Maximum tokens per turn, sent and received. Default: no limit.'),
          lower('limits.tokens', DEFAULT_LIMITS.tokens),
        ),
        cost: key(
          z.number().positive().describe('Maximum cost per turn, if the price is known. Default: no limit.'),
          lower('limits.cost', DEFAULT_LIMITS.cost),
        ),
        seconds: key(
          z.number().positive().max(1_000_000).describe('Maximum seconds per turn. Default: no limit.'),
          lower('limits.seconds', DEFAULT_LIMITS.seconds),
        ),
      },
      'The limits of a turn.',
    ),
    web: key(
      z
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
      goesElsewhere,
    ),
    diagnostics: key(
      z
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
        .describe('Commands that check a file after a change, in the sandbox. The lists of all files are combined, yours first.'),
      trusted('may add some after your approval (`mulligan trust`)', 'names commands that run by themselves'),
    ),
    store: key(
      z
        .string()
        .min(1)
        .describe(
          'Where sessions are kept: `postgres://USER@HOST:5432/DATABASE`, or the path of a file. Default: a file in the data folder.',
        ),
      user('decides where conversations are kept'),
    ),
    sandbox: sandboxFields(),
    ...approvalFields(),
    remoteHosts: key(names().describe("Hosts to which a project's file may send the conversation."), goesElsewhere),
  }),
)
export type Config = z.infer<ReturnType<typeof configSchema>>

/** What a project's file may do with a key. */
export const projectRule = (path: readonly string[]): ProjectRule | undefined => ruleAt(rulesOf(configSchema()), path)
