/** The commands with their arguments and flags, and the parsers of flag values. */
import { Argument, InvalidArgumentError, Option } from 'commander'
import { choicesOf } from '../config-keys.ts'

const flag = (flags: string, says: string): Option => new Option(flags, says)

const arg = (name: string, says?: string, otherwise?: string): Argument => new Argument(name, says).default(otherwise)

/** Collects the values of a flag that can be repeated. */
const several = (text: string, before: readonly string[] = []): readonly string[] => [...before, text]

const CWD = flag('--cwd <dir>', 'the folder to work in')
const JSON_FLAG = flag('--json', 'print JSON to stdout')
const IN_FOLDER: readonly Option[] = [CWD, JSON_FLAG]
const NO_KEYCHAIN = flag('--no-keychain', 'store the secret in a file that only you can read')
const YES = flag('-y, --yes', 'do not ask for confirmation')
const FORCE = flag('--force', 'overwrite later changes by others')

const APPROVE = flag('-y, --yes', 'approve everything except calls that only a person may approve')
const MODE = flag('--mode <mode>', 'what runs without asking: read-only, ask, auto-edit or auto (MULLIGAN_MODE)')
const MODEL = flag('-m, --model <provider/name>', 'the model to use (MULLIGAN_MODEL)')
const BASE_URL = flag('--base-url <url>', 'the URL of the model server (MULLIGAN_BASE_URL)')
const AGENT = flag('--agent <name>', 'the agent to use: build, plan, ask or your own')
const OPENS_IN_REASONING = flag('--opens-in-reasoning', 'the model starts in thinking mode and the server does not remove the thinking')
const PROJECT = flag('--project', "use the project's mulligan.json instead of your own file")
const LAST = flag('--last', 'the latest session in this folder')
const KEY = arg('<key>', 'the key, with dots: limits.requests')
const WHICH = 'the session id, or the beginning of it'
const WHICH_APPROVAL = 'the id of the question, or the beginning of it'
const PROMPT = arg('[prompt]', 'the task; - reads it from stdin')
const SHELLS = ['bash', 'zsh', 'fish', 'powershell']
/** Flags of `parse` that cannot be combined with rows, which carry these values themselves. */
const NOT_OF_ROWS = ['tools', 'family', 'json', 'finishReason', 'opensInReasoning', 'effect', 'explain']

/** The flags of every command that runs turns. */
const TURN_FLAGS: readonly Option[] = [
  MODEL,
  BASE_URL,
  OPENS_IN_REASONING,
  AGENT,
  flag('--no-agents-md', 'ignore AGENTS.md'),
  CWD,
  APPROVE,
  MODE,
  flag('--max-requests <n>', 'maximum model requests per turn').argParser(whole(1)),
  flag('--timeout <s>', 'time limit for a turn, in seconds').argParser(seconds),
]
const TURN_JSON: readonly Option[] = [
  flag('--json', 'print one JSON object to stdout at the end'),
  flag('--json-stream', 'print one JSON event per line to stdout; the result comes last').conflicts('json'),
]
const TAKE_OVER = flag('--take-over', 'take the session over from another process, which stops before its next effect')
const PARK = flag('--park', 'if a call needs approval and nobody can be asked, wait for mulligan approvals instead of denying it')
const SERVER = flag('--server <url>', 'run on this server, with the token in MULLIGAN_TOKEN (MULLIGAN_SERVER)')
const INSECURE = flag('--insecure', 'send the token to that server without TLS, also over a network (MULLIGAN_INSECURE=1)')
const SESSION = flag('--session <id>', 'continue this session')
const LAST_SESSION = flag('--last', 'continue the latest session in this folder; also -c, --continue').conflicts('session')
const IMAGE = flag('-i, --image <file>', 'attach an image to the prompt; can be repeated').argParser(several)
const PLAIN = flag('--plain', 'print plain lines, for screen readers and simple terminals')
const RESUME = flag('--resume [id]', 'continue a session: this one, or one chosen from a list; also -r').conflicts(['session', 'last'])

/** Accepts the values of a configuration key. They are looked up only if the flag is given, so that startup does not read the schema. */
const oneOf =
  (key: string) =>
  (text: string): string => {
    const choices = choicesOf(key)
    if (!choices.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    return text
  }

/** Parses an integer in a range. */
function whole(least: number, most = Number.POSITIVE_INFINITY): (text: string) => number {
  return (text) => {
    if (!(least === 0 ? /^\d{1,9}$/ : /^[1-9]\d{0,8}$/).test(text))
      throw new InvalidArgumentError(`It must be a whole number of at least ${Math.min(least, 1)}.`)
    if (Number(text) < least) throw new InvalidArgumentError(`It must be at least ${least}.`)
    if (Number(text) > most) throw new InvalidArgumentError(`It must be at most ${most}.`)
    return Number(text)
  }
}

const MAX_SECONDS = 1_000_000

function seconds(text: string): number {
  const value = Number(text)
  if (!/^\d+(?:\.\d+)?$/.test(text) || value <= 0 || value > MAX_SECONDS)
    throw new InvalidArgumentError(`It must be a number of seconds above 0 and at most ${MAX_SECONDS}.`)
  return value
}

const MILLISECONDS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** @returns milliseconds */
function age(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  const [, number = '', unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be a number of hours, days or weeks: 12h, 30d, 2w; or all.')
  return Number(number) * (MILLISECONDS[unit] as number)
}

/** The hidden command that the scripts of `mulligan completion` call. */
export const HIDDEN = '__complete'

type Definition = readonly [name: string, says: string, ...parts: readonly (Argument | Option)[]]

/** The commands, in the order of the help. A subcommand's name includes its group. */
export const DEFINITIONS: readonly Definition[] = [
  [
    'run',
    'run one turn: send a prompt, print the answer',
    PROMPT,
    ...TURN_FLAGS,
    ...TURN_JSON,
    IMAGE,
    SERVER,
    INSECURE,
    PARK,
    SESSION,
    TAKE_OVER,
    LAST_SESSION,
  ],
  [
    'chat',
    'chat in the terminal (same as mulligan without arguments)',
    ...TURN_FLAGS,
    IMAGE,
    SERVER,
    INSECURE,
    SESSION,
    LAST_SESSION,
    RESUME,
    PLAIN,
  ],
  [
    'init',
    'set up a model, notes, Google, mail and Slack',
    MODEL,
    BASE_URL,
    flag('--notes <folder>', 'the folder of your notes (notes.vault)'),
    flag('--google <file>', 'the JSON file of your OAuth client; logs in to Google'),
    flag('--no-browser', 'print the address of the login instead of opening it'),
    flag('--no-ask', 'ask nothing: apply the flags and report'),
    JSON_FLAG,
  ],
  [
    'models',
    'list the models on this machine, and show which one is used',
    ...IN_FOLDER,
    flag('--use <provider/name>', 'make this model the default'),
  ],
  ['tools', 'list, show, call or audit tools'],
  ['tools list', 'list all tools', ...IN_FOLDER],
  ['tools show', 'show what a tool does and its parameters', arg('<name>'), ...IN_FOLDER],
  [
    'tools call',
    'call a tool as a model would',
    arg('<name>', 'the tool'),
    arg('[json]', 'the input; - reads it from stdin', '{}'),
    ...IN_FOLDER,
    flag('-y, --yes', 'approve without asking'),
  ],
  ['tools audit', 'check that every tool follows the contract', ...IN_FOLDER],
  [
    'parse',
    'show which tool calls are found in model output, and why',
    arg('[file]', 'the model output; read from stdin if omitted or -'),
    flag('--tools <file>', 'the tools the model had, as JSON in the format of OpenAI, Anthropic or MCP'),
    flag('--finish-reason <reason>', 'the finish reason from the server; length means that the last call is cut off'),
    flag('--family <names>', 'look only for these model families: glm,hermes').argParser((names: string) => names.split(',')),
    flag('--effect <effect>', 'the effect of tools that do not declare one (default: read)').choices(['read', 'write', 'external']),
    flag('--explain', 'show where each call was found, and why it runs or not, as Markdown for an issue'),
    flag('--opens-in-reasoning', 'the output starts in thinking mode, up to </think>'),
    flag('--jsonl <file>', 'parse rows { id, raw | call, tools, finishReason? }; print one result per line').conflicts(NOT_OF_ROWS),
    flag('--json', 'print JSON to stdout'),
  ],
  ['agents', 'list the agents', ...IN_FOLDER],
  ['config', 'show or change the configuration'],
  ['config show', 'show the effective configuration and where each value comes from', ...IN_FOLDER],
  ['config get', 'print one effective value', KEY, ...IN_FOLDER],
  [
    'config set',
    'set a key in your own configuration file',
    KEY,
    arg('<value>', 'plain text or a number, a list as a,b or JSON, anything else as JSON'),
    ...IN_FOLDER,
    PROJECT,
  ],
  ['config unset', 'remove a key from your own configuration file', KEY, ...IN_FOLDER, PROJECT],
  ['config init', 'create your own configuration file, with comments', ...IN_FOLDER, PROJECT],
  [
    'config explain',
    'explain a key, who sets it, and which value wins',
    arg('[key]', `${KEY.description} (default: all keys)`),
    ...IN_FOLDER,
  ],
  ['config path', 'list the configuration files that are read', ...IN_FOLDER],
  [
    'trust',
    "show a folder's own tools and settings, and trust them",
    ...IN_FOLDER,
    YES,
    flag('--list', 'show what is trusted').conflicts(['yes', 'remove']),
    flag('--remove', 'stop trusting this folder').conflicts(['yes']),
  ],
  [
    'undo',
    'undo the file changes of a turn',
    arg('[turn]', 'the turn to undo (default: the latest that is not undone)'),
    ...IN_FOLDER,
    flag('--list', 'list the turns that changed files in this folder').conflicts('force'),
    FORCE,
  ],
  ['redo', 'restore changes that were undone', arg('[turn]', 'the turn to redo (default: the one undone last)'), ...IN_FOLDER, FORCE],
  [
    'diff',
    'show what a turn changed',
    arg('[turn]', 'the turn to show (default: the latest that is not undone)'),
    ...IN_FOLDER,
    flag('--stat', 'show only the number of changed lines per file'),
  ],
  ['sessions', 'list, show, resume, rename, branch, delete, export or repair sessions'],
  [
    'sessions list',
    'list the sessions in this folder, latest first',
    ...IN_FOLDER,
    flag('--all', 'include the sessions of all folders'),
    flag('--search <words>', 'only sessions with these words in the title, a prompt or an answer'),
    flag('--limit <n>', 'maximum number of sessions (default: 50)').argParser(whole(1)),
  ],
  ['sessions show', 'show the conversation', arg('[id]', WHICH), ...IN_FOLDER, LAST],
  [
    'sessions resume',
    'continue a session in a chat or with a prompt, or resume an interrupted turn',
    arg('[id]', `${WHICH} (default: the latest in this folder)`),
    PROMPT,
    TAKE_OVER,
    PARK,
    ...TURN_FLAGS,
    ...TURN_JSON,
    IMAGE,
  ],
  [
    'sessions branch',
    'copy a conversation, or the part before a message, to a new session',
    arg('[id]', WHICH),
    ...IN_FOLDER,
    LAST,
    flag('--at <n>', 'leave out message n and everything after it').argParser(whole(1)),
  ],
  ['sessions rename', 'change the title of a session', arg('<id>', WHICH), arg('<title...>', 'the new title'), ...IN_FOLDER],
  [
    'sessions delete',
    'delete sessions permanently',
    arg('[id...]', WHICH),
    ...IN_FOLDER,
    flag('--older-than <age>', 'delete sessions without a turn for this long: 30d, 12h, 2w').argParser(age),
    flag('--all', 'with --older-than: include all folders'),
    YES,
  ],
  ['sessions repair', 'recover what is readable from a damaged session store', flag('--json', 'print JSON to stdout')],
  [
    'sessions export',
    'write a session to a file, or to stdout',
    arg('[id]', WHICH),
    LAST,
    flag('--format <which>', 'Markdown, one JSON object, or one JSON event per line (default: md)').choices(['md', 'json', 'jsonl']),
    flag('-o, --output <file>', 'the output file (default: stdout)'),
    flag('--force', 'overwrite the output file'),
    flag('--cwd <dir>', 'the folder to work in'),
  ],
  [
    'logs',
    'print what happened in a session, event by event',
    arg('[session]', `${WHICH} (default: the latest in this folder)`),
    flag('-f, --follow', 'keep printing new events, also those of other processes; Ctrl-C ends it'),
    flag('--after <n>', 'only the events after the one with this id').argParser(whole(0)),
    flag('--server <url>', 'a session of this server, with the token in MULLIGAN_TOKEN (MULLIGAN_SERVER)'),
    INSECURE,
    CWD,
    flag('--json', 'print one JSON event per line to stdout, as --json-stream does'),
  ],
  [
    'report',
    'show how reliable tool calls were: outcomes, repairs, retries, latency, what was caught',
    ...IN_FOLDER,
    flag('--all', 'include the sessions of all folders'),
    flag('--session <id>', 'only this session; the id, or the beginning of it').conflicts('all'),
    flag('--since <age>', 'only what happened since: 12h, 30d, 2w, all; default: 30d, of a session all').argParser(age),
    flag('--tool <name>', 'only calls of this tool'),
    flag('--model <provider/name>', 'only calls of this model'),
    flag('--html <file>', 'write the report as one self-contained HTML page'),
    flag('--force', 'overwrite the HTML file'),
  ],
  [
    'serve',
    'serve sessions over HTTP: turns, events, approvals that wait',
    flag('--host <address>', 'the address to listen on (default: 127.0.0.1)'),
    flag('--port <n>', 'the port; 0 takes a free one (default: 4711)').argParser(whole(0)),
    flag(
      '--token-file <file>',
      'a file with the token that clients send, or - for stdin (MULLIGAN_TOKEN; default: the one in the data folder)',
    ),
    flag('--token <token>', 'the token itself, which other users of the machine can see').conflicts('tokenFile'),
    flag('--store <place>', 'a file, or postgres://… (default: store in the configuration)'),
    flag('--allow-host <name>', 'also answer under this host name; can be repeated').argParser(several),
    flag('--allow-origin <origin>', 'let pages of this origin use the API; can be repeated').argParser(several),
    flag('--cert <file>', 'certificate in PEM, for TLS'),
    flag('--key <file>', 'private key in PEM, for TLS'),
    flag('--public', 'listen without TLS on an address that other machines can reach'),
    flag('--json', 'print the address and the token as JSON'),
  ],
  ['approvals', 'list, show and answer the questions that turns are waiting on'],
  [
    'approvals list',
    'list the pending questions, oldest first',
    flag('--all', 'include answered questions'),
    flag('--json', 'print JSON to stdout'),
  ],
  ['approvals show', 'show what the call would do', arg('<id>', WHICH_APPROVAL), flag('--json', 'print JSON to stdout')],
  [
    'approvals allow',
    'allow the call and continue the turn',
    arg('<id>', WHICH_APPROVAL),
    flag('--for-session', 'allow such calls for the rest of the session'),
    flag('--always', 'write a rule that allows such calls to your settings'),
    flag('--no-run', 'only store the answer; a server or mulligan sessions resume continues the turn'),
    ...TURN_JSON,
  ],
  [
    'approvals deny',
    'deny the call and continue the turn',
    arg('<id>', WHICH_APPROVAL),
    flag('--reason <text>', 'a reason, passed on to the model'),
    flag('--no-run', 'only store the answer; a server or mulligan sessions resume continues the turn'),
    ...TURN_JSON,
  ],
  ['mcp', 'use the tools of MCP servers, serve tools to MCP clients, or run a server behind the proxy'],
  ['mcp list', 'list the MCP servers whose tools the model may use', ...IN_FOLDER],
  [
    'mcp add',
    'add an MCP server to the configuration, and test it',
    arg('<name>', 'a name of letters, digits, _ and -'),
    arg('[command...]', 'the command of the server, after --'),
    flag('--url <url>', 'instead of a command: the address of a server that is reached by Streamable HTTP'),
    flag('--header <header>', 'a header for --url, as "Name: value"; can be repeated').argParser(several),
    flag('--env <name>', 'pass this variable to the server, or set it with NAME=VALUE; can be repeated').argParser(several),
    PROJECT,
    ...IN_FOLDER,
  ],
  ['mcp remove', 'remove an MCP server from the configuration', arg('<name>', 'the name of the server'), PROJECT, ...IN_FOLDER],
  [
    'mcp login',
    'log in to an HTTP MCP server, in the browser',
    arg('<name>', 'the name of the server, or its address'),
    flag('--no-browser', 'show the address instead of opening it'),
    flag('--scope <scopes>', 'the scopes to request, separated by spaces'),
    ...IN_FOLDER,
  ],
  [
    'mcp logout',
    'delete the tokens of an MCP server and ask its provider to revoke them',
    arg('<name>', 'the name of the server, or its address'),
    ...IN_FOLDER,
  ],
  ['mcp test', 'start the MCP servers and list what they offer', arg('[name]', 'only this server'), ...IN_FOLDER],
  [
    'mcp serve',
    'serve the tools of a folder to any MCP client, on stdin and stdout',
    flag('--tools <names>', 'serve only these tools, separated by commas; * is a wildcard'),
    flag('--http [port]', 'serve by HTTP on 127.0.0.1, with a token (MULLIGAN_MCP_TOKEN; default: a new one, and a free port)').argParser(
      whole(1),
    ),
    flag('--no-structured', 'leave out structured content and output schemas'),
    MODE,
    APPROVE,
    CWD,
  ],
  [
    'mcp proxy',
    'run an MCP server behind the proxy, on stdin and stdout',
    arg('[command...]', 'the command of the server, after --'),
    flag('--url <url>', 'instead of a command: the address of a server that is reached by Streamable HTTP'),
    flag('--header <header>', 'a header for --url, as "Name: value"; can be repeated').argParser(several),
    flag('--env <name>', 'pass this variable to the server, or set it with NAME=VALUE; can be repeated').argParser(several),
    flag('--cwd <dir>', 'the folder the server starts in'),
    flag('--timeout <s>', 'end a call after this many seconds without an answer or progress (default: 60)').argParser(seconds),
    flag('--max-time <s>', 'end a call after this many seconds even if it reports progress (default: 600)').argParser(seconds),
    flag('--max-output <n>', 'maximum characters of a result; the rest is read in pages (default: 100000)').argParser(whole(1000)),
    flag('--safe <tool>', 'call this tool again after an interruption; can be repeated').argParser(several),
    flag('--trust-annotations', 'call tools with readOnlyHint again after an interruption'),
    flag('--restarts <n>', 'maximum restarts of the server in ten minutes (default: 5)').argParser(whole(0)),
    flag('--observe', 'change nothing; report at the end what would have been done'),
    flag('--report', 'report at the end what was done, on stderr'),
    flag('--record <file>', 'append what happens to each call to this file, one JSON object per line'),
  ],
  ['mcp resolve', 'list calls that may have taken effect, or allow one to be made again', arg('[id]', 'the id of the call'), JSON_FLAG],
  ['auth', 'log in to the services that the model may use: Google, mail, Slack'],
  [
    'auth google',
    'log in to Google, for Drive, Gmail and Calendar',
    flag('--client <file>', 'the JSON file of your OAuth client, from the Google Cloud console'),
    flag('--no-browser', 'print the address instead of opening it'),
    NO_KEYCHAIN,
    JSON_FLAG,
  ],
  [
    'auth mail',
    'set up mail by IMAP and SMTP, and store its password',
    flag('--address <address>', 'your address (mail.address)'),
    flag('--user <name>', 'the login name, if it is not the address (mail.user)'),
    flag('--imap <url>', 'the server for reading, such as imaps://imap.example.com (mail.imap)'),
    flag('--smtp <url>', 'the server for sending, such as smtps://smtp.example.com (mail.smtp)'),
    flag('--password-file <file>', 'read the password from the first line of a file, or - for stdin'),
    NO_KEYCHAIN,
    JSON_FLAG,
  ],
  ['auth status', 'show which services are set up', JSON_FLAG],
  [
    'auth logout',
    'revoke the login for Google, or remove the password for mail',
    arg('<service>', 'google or mail').choices(['google', 'mail']),
    JSON_FLAG,
  ],
  ['acp', 'serve an editor that speaks the Agent Client Protocol, on stdin and stdout', MODEL, BASE_URL, OPENS_IN_REASONING, AGENT, MODE],
  ['sandbox', 'run a command in the sandbox, as the model would'],
  [
    'sandbox run',
    'run a command in the sandbox',
    arg('<command...>', 'a program with its arguments, or one shell script as a single argument'),
    flag('--backend <name>', 'the sandbox to use (MULLIGAN_SANDBOX); config explain sandbox.backend lists them').argParser(
      oneOf('sandbox.backend'),
    ),
    flag('--timeout <s>', 'time limit in seconds (MULLIGAN_SANDBOX_TIMEOUT)').argParser(seconds),
    flag('--network <which>', 'network access: none or bridge (MULLIGAN_SANDBOX_NETWORK)').choices(['none', 'bridge']),
    flag('--memory <size>', 'memory limit for all its processes, such as 512m or 2g (MULLIGAN_SANDBOX_MEM)'),
    flag('--profile <name>', 'the set of limits; strict is tighter').choices(['default', 'strict']),
    flag('--cwd <dir>', 'the folder the command may change'),
    flag('--json', 'print one JSON object to stdout at the end'),
  ],
  [
    'sandbox pull',
    'download the container image',
    arg('[image]', 'the image (default: sandbox.image, otherwise the one that doctor shows)'),
    flag('--backend <name>', 'docker or podman (default: whichever is installed)').choices(['docker', 'podman']),
    flag('--cwd <dir>', 'the folder whose configuration applies'),
  ],
  ['doctor', 'check the setup, and what the sandbox enforces', ...IN_FOLDER],
  [
    'eval',
    'measure a model on small tasks, with and without the engine',
    MODEL,
    BASE_URL,
    flag('--context <tokens>', 'context size in tokens (MULLIGAN_CONTEXT)').argParser(whole(1024)),
    OPENS_IN_REASONING,
    flag('--arms <names>', 'any of bare, repair and full (default: all)'),
    flag('--tasks <ids>', 'run only these tasks: wrong-path,edit-crlf'),
    flag('--runs <n>', 'runs of each task in each arm (default: 1)').argParser(whole(1, 1000)),
    flag('--seed <n>', 'seed for the order of runs and for the bootstrap (default: 1)').argParser(whole(0)),
    flag('--concurrency <n>', 'parallel runs; more than 1 distorts the timings (default: 1)').argParser(whole(1, 64)),
    flag('--max-requests <n>', 'maximum model requests per run (default: 20)').argParser(whole(1)),
    flag('--timeout <s>', 'time limit for a run, in seconds (default: 300)').argParser(seconds),
    flag('--sandbox <backend>', 'the sandbox for commands; none runs them without a sandbox').argParser(oneOf('sandbox.backend')),
    flag('--json', 'print the report as JSON to stdout'),
    flag('--jsonl <file>', 'write each run to this file as soon as it ends').conflicts('resume'),
    flag('--resume <file>', 'continue from a --jsonl file'),
    flag('--list', 'list the tasks without running them'),
  ],
  [
    'demo',
    'see Mulligan work, with a scripted model and no API key',
    flag(
      '--without <catch>',
      'turn off one protection and see what happens: wrong-path, number-as-text, unknown-tool,\nempty-search, failing-edit, alias, same-call-again',
    ),
  ],
  ['completion', 'print the completion script for your shell', arg('<shell>', 'the shell').choices(SHELLS)],
  [HIDDEN, '', arg('<shell>').choices(SHELLS), arg('[words...]'), flag('--empty', 'the word at the cursor is empty')],
]
