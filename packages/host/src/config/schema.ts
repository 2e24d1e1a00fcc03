/**
 * The table of settings: type, description, default, flag, short variable, and what a project's file may do with each. The schema of a
 * configuration file, the variables, the merging of all sources and docs/configuration.md are derived from it.
 */
import { isAbsolute } from 'node:path'
import type { PolicyRule } from '@mulligan/core'
import { DEFAULT_LIMITS, MODES, type Mode, stricterMode } from '@mulligan/core/executor'
import { BACKENDS, DEFAULT_SANDBOX_LIMITS, STRICT_LIMITS, sizeText } from '@mulligan/sandbox'
import { commandFault } from '@mulligan/tools'
import { z } from 'zod'
import { memoize } from '../common/memoize.ts'
import { modelFields } from '../models/model-fields.ts'
import { add, fallback, localModel, localUrl, lower, type ProjectRule, set, tighten, trusted, user } from './project-rules.ts'
import { isSize, limitFault, numberOf, SANDBOX_LIMITS, type SandboxLimit } from './sandbox-limits.ts'

export interface Row {
  /** Called when something is validated, which most starts don't need. */
  readonly type: () => z.ZodType
  readonly description: string
  readonly default?: unknown
  /** Flag of `mulligan run`. */
  readonly flag?: string
  /** Alternative name of the variable. */
  readonly variable?: string
  /** What a project's file may do with the setting. */
  readonly project: ProjectRule
  /** The same for fields of named values that have rules of their own. */
  readonly fields?: Readonly<Record<string, ProjectRule>>
}

const name = () => z.string().regex(/^[\w-]{1,40}$/, 'a name of letters, digits, _ and -')
const text = () => z.string().min(1)
const texts = () => z.array(text())
const count = () => z.int().min(1)
const folder = () =>
  z.string().refine((path) => isAbsolute(path) || /^~(?:\/|$)/.test(path), 'an absolute path, or one that begins with ~/')

/** Fields of a user-defined agent, also used as front matter of a Markdown file. */
export const agentFields = () =>
  z
    .strictObject({
      description: z.string().describe('A short description.'),
      prompt: z.string().describe('The instructions for the model.'),
      tools: texts().describe('The tools it has, by name, with `*`. Default: all.'),
      model: text().describe('Its model, as `PROVIDER/NAME`. It overrides `model`; a flag overrides it.'),
    })
    .partial()

const ruleFields = () =>
  z
    .strictObject({
      tool: z.string().describe('The name of the tool, with `*`.'),
      effect: z.enum(['read', 'write', 'external']).describe('The effect of the tool.'),
      target: z.string().describe('What the call acts on, with `*`.'),
      input: z.record(text(), z.string()).describe('The values of parameters, with `*`, by parameter.'),
      folder: folder().describe('The folder it applies to, with everything in it. Default: everywhere.'),
      reason: text().max(500).describe('The reason given to the model if the call is denied.'),
    })
    .partial()
    .extend({ decision: z.enum(['allow', 'ask', 'deny']).describe('What happens to the call.') })

const mailServer = (scheme: 'imap' | 'smtp') => () =>
  z.string().regex(new RegExp(`^${scheme}s?://[^\\s/@?#]+/?$`), `an address such as ${scheme}s://${scheme}.example.com`)

const searchFields = () =>
  z.strictObject({
    provider: z.enum(['brave', 'tavily', 'searxng']).describe('The service that searches. Its key is in the environment.'),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Its URL, if not the default; required for `searxng`.'),
  })

const checkFields = () =>
  z.strictObject({
    include: z.union([text(), texts().min(1)]).describe('The files that it checks, as a glob or several.'),
    command: texts()
      .min(1)
      .superRefine((command, { addIssue }) => {
        const fault = commandFault(command)
        if (fault !== undefined) addIssue(fault)
      })
      .describe('A program with its arguments. `{file}` stands for the file.'),
    timeout: z.number().positive().max(600).optional().describe('Seconds it may take.'),
  })

const mountFields = () =>
  z.strictObject({
    path: z.string().regex(/^(?:\/|~\/|[A-Za-z]:[\\/])/, 'a path that begins with / or ~/'),
    mode: z.enum(['read-only', 'read-write']).optional(),
  })

/** The shape that other clients use. What they add to it is left alone. */
const serverFields = () =>
  z
    .looseObject({
      command: text().describe('The program.'),
      args: z.array(z.string()).describe('Its arguments.'),
      env: z.record(text(), z.string()).describe('Its environment variables, in addition to the usual ones (`PATH`, `HOME`, …).'),
      cwd: text().describe('The folder it starts in. Default: the workspace.'),
      url: z.string().describe('Instead of a program: the address of a server that is reached by Streamable HTTP.'),
      headers: z.record(text(), z.string()).describe('Headers sent with each request.'),
      oauth: z
        .strictObject({
          clientId: text().describe('The client ID, or the https address of the client metadata.'),
          clientSecret: text().describe('The client secret, preferably as a variable in braces.'),
          scope: text().describe('The scopes to request.'),
          callbackPort: z.int().min(1).max(65535).describe('The port that the browser is redirected to.'),
        })
        .partial()
        .describe('The client for `mulligan mcp login`, if the authorization server does not register clients.'),
      disabled: z.boolean().describe('Ignores the server.'),
      trustAnnotations: z.boolean().describe('Believes `readOnlyHint`, so that such tools run without asking.'),
      trustResults: z
        .boolean()
        .describe('Does not treat its results as untrusted content, after which each external effect needs a person, even with `--yes`.'),
      tools: z
        .record(
          text(),
          z
            .strictObject({
              effect: z.enum(['read', 'write', 'external']).describe('What a call does. Default: `external`, which asks.'),
              timeout: z.number().positive().max(3600).describe('Seconds a call may take without progress.'),
              retries: z.int().min(0).max(10).describe('How often the model may retry after a wrong call.'),
            })
            .partial(),
        )
        .describe('Settings of its tools, by name; `*` is a wildcard.'),
    })
    .partial()
    .refine(({ command, url }) => (command === undefined) !== (url === undefined), 'either a command or a url')

/** For the JSON Schema, which cannot represent the check. */
const SIZE = {
  anyOf: [
    { type: 'string', pattern: '^\\d+(\\.\\d+)? ?[kKmMgGtT]?[iI]?[bB]?$' },
    { type: 'number', exclusiveMinimum: 0 },
  ],
}

const row = <Type extends Row['type']>(type: Type, project: ProjectRule, description: string, more: Omit<Row, RowBase> = {}) => ({
  ...{ type, project, description },
  ...more,
})
type RowBase = 'type' | 'project' | 'description'

/** Defines a limit of a command. A project may set it below the user's value, or below the one of the user's profile. */
function limit<T extends string | number = number>(key: SandboxLimit, description: string, more: Omit<Row, RowBase> = {}) {
  const of = SANDBOX_LIMITS[key]
  const type = () =>
    z
      .custom<T>((value) => limitFault(key, value) === undefined, { error: ({ input }) => limitFault(key, input) ?? '' })
      .meta(isSize(key) ? SIZE : { type: 'number', exclusiveMinimum: 0 })
  const below = tighten<string | number>((theirs, mine, own) => {
    const profile = own('sandbox.profile') === 'strict' ? STRICT_LIMITS : DEFAULT_SANDBOX_LIMITS
    return numberOf(theirs) < (mine === undefined ? profile[of] : numberOf(mine))
  })
  const byDefault = DEFAULT_SANDBOX_LIMITS[of]
  return row(type, below, description, { default: isSize(key) ? sizeText(byDefault) : byDefault, ...more })
}

const isStricterMode = (a: Mode, b: Mode): boolean => a !== b && stricterMode(a, b) === a

const ownAgent = add('may add agents, but not replace yours')
const whoseMail = user('decides whose mail is read and sent, and where the password goes')
const goesElsewhere = user('decides where data goes')
const loosens = user('would loosen the sandbox')
const { requests, calls, tokens, cost, seconds } = DEFAULT_LIMITS

export const TABLE = {
  $schema: row(() => z.string(), set, 'The JSON Schema of this file, for editors.'),
  model: row(text, localModel, 'The model, as `PROVIDER/NAME`.', { flag: '--model' }),
  baseUrl: row(text, localUrl, 'The address of its server. Not for `anthropic`, `openai` and `google`.', { flag: '--base-url' }),
  models: row(
    () => z.record(text(), modelFields()),
    set,
    'Settings of models, by `PROVIDER/NAME`; `*` is a wildcard. All matching entries apply; the most specific wins.',
  ),
  agent: { ...row(name, fallback, 'The agent to use.', { flag: '--agent' }), default: 'build' },
  agents: row(() => z.record(name(), agentFields()), ownAgent, 'Your own agents, by name.', { fields: { model: localModel } }),
  'tools.lean': row(
    texts,
    set,
    'The tools that are in every request, in this order; the model finds the others with `find_tools`. Default: as many as fit.',
  ),
  'tools.off': row(texts, add('may add some'), 'Tools that no agent may use. The lists of all files are combined.'),
  'limits.requests': row(
    count,
    lower(requests),
    'Maximum model requests per turn. The last request allows no tool calls, so that the turn ends with an answer.',
    { default: requests, flag: '--max-requests' },
  ),
  'limits.calls': row(count, lower(calls), 'Maximum tool calls per turn.', { default: calls }),
  'limits.tokens': row(count, lower(tokens), 'Maximum tokens per turn, sent and received. Default: no limit.'),
  'limits.cost': row(() => z.number().positive(), lower(cost), 'Maximum cost per turn, if the price is known. Default: no limit.'),
  'limits.seconds': row(() => z.number().positive().max(1_000_000), lower(seconds), 'Maximum seconds per turn. Default: no limit.', {
    flag: '--timeout',
  }),
  'web.search': row(
    searchFields,
    goesElsewhere,
    'Where `web_search` searches. Default: the first of SearXNG, Brave and Tavily whose address or key is in the environment.',
  ),
  diagnostics: row(
    () => z.array(checkFields()),
    trusted('may add some after your approval (`mulligan trust`)', 'names commands that run automatically'),
    'Commands that check a file after a change, in the sandbox. The lists of all files are combined, yours first.',
  ),
  mcpServers: row(
    () => z.record(name(), serverFields()),
    trusted('may add some after your approval (`mulligan trust`)', 'starts programs outside the sandbox, or sends data elsewhere'),
    'MCP servers whose tools the model may use, by name, in the format of other clients. Variables in braces are replaced, as in a shell.',
  ),
  'notes.vault': row(
    folder,
    user('decides which of your folders the model reads and changes'),
    'The folder of your notes: an Obsidian vault, or any folder of Markdown. The model then has tools to search, read and write them.',
  ),
  notify: row(
    () => z.enum(['off', 'bell', 'desktop']),
    user('decides what your terminal does'),
    'What the chat does when it waits for an answer, or a long turn has ended, while you are elsewhere: ring the bell, or show a desktop notification, if the terminal supports it.',
    { default: 'bell' },
  ),
  'mail.address': row(
    () => z.string().regex(/^[^@]*[^\s@]@[^\s@]+$/, 'an address'),
    whoseMail,
    'Your address, for mail by IMAP and SMTP: `ana@example.com`, or `Ana <ana@example.com>`. The model then has the mail tools.',
  ),
  'mail.user': row(text, whoseMail, 'The login name for the mail servers. Default: the address.'),
  'mail.imap': row(
    mailServer('imap'),
    whoseMail,
    'The server for reading mail: `imaps://HOST`, or `imap://HOST` with STARTTLS; a port may follow. `mulligan auth mail` stores the password.',
  ),
  'mail.smtp': row(mailServer('smtp'), whoseMail, 'The server for sending mail: `smtps://HOST`, or `smtp://HOST` with STARTTLS.'),
  theme: row(
    () => z.enum(['auto', 'dark', 'light', 'terminal', 'none']),
    user('decides how your terminal looks'),
    'The colours of the chat: for a `dark` or `light` background, the 16 of the `terminal`, or `none`. `auto`: by the background that the terminal reports (`COLORFGBG`), otherwise `terminal`.',
    { default: 'auto' },
  ),
  plain: row(
    () => z.enum(['auto', 'on', 'off']),
    user('decides how your terminal looks'),
    'Prints the chat as plain lines, for screen readers and simple terminals. `auto`: only if `TERM` is `dumb`.',
    { default: 'auto' },
  ),
  store: row(
    text,
    user('decides where conversations are kept'),
    'Where sessions are kept: `postgres://USER@HOST:5432/DATABASE`, or the path of a file. Default: a file in the data folder.',
  ),
  'sandbox.backend': row(
    () => z.enum(['auto', ...BACKENDS]),
    loosens,
    'Which sandbox. `auto` is the first that can be opened, never `none`.',
    { default: 'auto', variable: 'MULLIGAN_SANDBOX' },
  ),
  'sandbox.profile': row(
    () => z.enum(['default', 'strict']),
    tighten((theirs) => theirs === 'strict'),
    '`strict` has tighter limits.',
    { default: 'default' },
  ),
  'sandbox.network': row(
    () => z.enum(['none', 'bridge']),
    tighten((theirs) => theirs === 'none', { refuses: (theirs) => (theirs === 'bridge' ? loosens.why : undefined) }),
    'The network access of commands.',
    { default: 'none' },
  ),
  'sandbox.memory': limit<string | number>('memory', 'The memory limit of a command, all processes together.', {
    variable: 'MULLIGAN_SANDBOX_MEM',
  }),
  'sandbox.cpus': limit('cpus', 'The number of processors a command may use.'),
  'sandbox.pids': limit('pids', 'The number of processes a command may run at once.'),
  'sandbox.timeout': limit('timeout', 'The time limit of a command in seconds, at most 600.'),
  'sandbox.user': row(
    () =>
      z
        .custom<number | 'auto'>((value) => value === 'auto' || (Number.isSafeInteger(value) && Number(value) >= 0), 'a uid, or "auto"')
        .meta({ anyOf: [{ type: 'integer', minimum: 0 }, { const: 'auto' }] }),
    loosens,
    'The user that commands run as in a container.',
  ),
  'sandbox.mounts': row(() => z.array(mountFields()), loosens, 'More folders that commands can see, read-only by default.'),
  'sandbox.output': limit<string | number>('output', 'How much command output is kept.'),
  'sandbox.disk': limit<string | number>('disk', 'How much a command may write.'),
  'sandbox.env': row(
    () => z.array(z.string().regex(/^[A-Za-z_]\w*$/, 'the name of a variable, without its value')),
    loosens,
    'Names of environment variables that commands receive.',
  ),
  'sandbox.image': row(text, loosens, 'The container image.'),
  'sandbox.gitPrograms': row(
    () => z.enum(['ignore', 'run']),
    loosens,
    'Whether git in a command runs the hooks, filters and other programs that a repository names.',
    { default: 'ignore' },
  ),
  'sandbox.readable': row(
    () => z.array(text().refine((path) => !path.split(/[\\/]/).includes('..'), 'a path in the workspace')),
    trusted('may name some after your approval (`mulligan trust`)', 'lets commands read these secret files'),
    'Secret files, such as `.env.test`, that commands may read; the others are empty for them. Paths are relative to the workspace; one that begins with / or ~/ names one file.',
  ),
  mode: row(
    () => z.enum(MODES),
    tighten<Mode>((theirs, mine = 'ask') => isStricterMode(theirs, mine), { says: 'may make it stricter', trustLifts: true }),
    'What runs without asking.',
    { default: 'ask', flag: '--mode' },
  ),
  policy: row(
    () => z.array(ruleFields()),
    add('may deny calls or make them ask'),
    'Rules: what is allowed, asked and denied. The first that matches decides.',
  ),
  trustedProjects: row(
    () => z.array(folder()),
    user('decides which projects you trust'),
    'Folders whose project file may allow calls without asking you.',
  ),
  remoteHosts: row(texts, goesElsewhere, "Hosts to which a project's file may send the conversation."),
} satisfies Readonly<Record<string, Row>>

const GROUPS: Readonly<Record<string, string>> = {
  tools: 'Which tools the model has.',
  limits: 'The limits of a turn.',
  web: 'The tools for the web.',
  sandbox: 'The sandbox that commands run in.',
}

type Table = typeof TABLE
export type Key = keyof Table
export type ValueOf<K extends Key> = z.infer<ReturnType<Table[K]['type']>>
type Below<K, Group extends string> = K extends `${Group}.${infer Name}` ? Name : never
type Top = { -readonly [K in Key as K extends `${string}.${string}` ? never : K]?: ValueOf<K> | undefined }
type In<Group extends string> = { -readonly [K in Key as Below<K, Group>]?: ValueOf<K> | undefined }

/** The contents of a configuration file. */
export type Config = Top & { -readonly [Group in 'tools' | 'limits' | 'web' | 'sandbox']?: In<Group> | undefined }
export type SandboxFields = In<'sandbox'>
export type AgentFields = z.infer<ReturnType<typeof agentFields>>
export type ConfiguredRule = PolicyRule & { readonly folder?: string }

export const ROWS: readonly (readonly [key: Key, path: readonly string[], row: Row])[] = Object.entries<Row>(TABLE).map(([key, row]) => [
  key as Key,
  key.split('.'),
  row,
])

export const configSchema = memoize((): z.ZodType<Config> => {
  const groups = Object.groupBy(ROWS, ([, [group = '']]) => group)
  const shape = Object.entries(groups).map(([group, rows = []]) => {
    const [[, path] = ['', []]] = rows
    return [group, path.length === 1 ? schemaOf(rows[0] as (typeof ROWS)[number]) : objectOf(rows).describe(GROUPS[group] ?? '')] as const
  })
  return z.strictObject(Object.fromEntries(shape)).partial() as z.ZodType<Config>
})

const objectOf = (rows: typeof ROWS) => z.strictObject(Object.fromEntries(rows.map((row) => [row[1].at(-1), schemaOf(row)]))).partial()

/**
 * Adds documentation to a type (description, default and names), which the JSON Schema, `config explain` and docs/configuration.md show.
 */
function schemaOf([, , { type, project: _, fields: __, ...facts }]: (typeof ROWS)[number]): z.ZodType {
  const schema = type()
  return schema.meta({ ...schema.meta(), ...facts })
}

/** Returns what a project's file may do with a key, or with the object that contains it. */
export function projectRule(path: readonly string[]): ProjectRule | undefined {
  const [, at, row] = ROWS.find(([, at]) => at.every((name, depth) => path[depth] === name)) ?? []
  return at && (row?.fields?.[path[at.length + 1] ?? ''] ?? row?.project)
}
