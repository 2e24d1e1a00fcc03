/** The text below the help of each command: exit codes, variables, and examples. */
import type { Command } from 'commander'

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  '': [
    'mulligan demo                             see Mulligan work; needs no model',
    'mulligan doctor                           check the setup',
    'mulligan models                           list the models',
    'mulligan "what is in this folder?"',
  ],
  chat: ['mulligan chat --model ollama/NAME', 'mulligan chat --last'],
  init: ['mulligan init', 'mulligan init --model ollama/NAME --notes ~/Notes --no-ask'],
  models: ['mulligan models', 'mulligan models --use ollama/NAME'],
  tools: ['mulligan tools list', 'mulligan tools show read_file', `mulligan tools call grep '{"pattern": "TODO"}'`],
  'tools list': ['mulligan tools list', 'mulligan tools list --json'],
  'tools show': ['mulligan tools show read_file'],
  'tools call': [`mulligan tools call grep '{"pattern": "TODO"}'`, 'mulligan tools call write_file - --yes < input.json'],
  'tools audit': ['mulligan tools audit'],
  parse: ['mulligan parse said.txt --tools tools.json', 'mulligan parse --tools tools.json < said.txt'],
  agents: ['mulligan agents', 'mulligan run --agent plan "how would you split this file?"'],
  config: ['mulligan config', 'mulligan config set model ollama/NAME', 'mulligan config explain mode'],
  'config show': ['mulligan config', 'mulligan config show --json'],
  'config get': ['mulligan config get limits.requests', `mulligan config get 'models["ollama/NAME:1.5b"].context'`],
  'config set': [
    'mulligan config set model ollama/NAME',
    'mulligan config set --project limits.requests 10',
    'mulligan config set tools.off web_search,web_fetch',
  ],
  'config unset': ['mulligan config unset tools.off'],
  'config init': ['mulligan config init', 'mulligan config init --project'],
  'config explain': ['mulligan config explain', 'mulligan config explain limits.requests'],
  'config path': ['mulligan config path'],
  trust: ['mulligan trust', 'mulligan trust --list', 'mulligan trust --remove'],
  undo: ['mulligan undo', 'mulligan undo --list'],
  redo: ['mulligan redo'],
  diff: ['mulligan diff --stat', 'mulligan diff | git apply --reverse --check'],
  sessions: ['mulligan sessions', 'mulligan sessions show --last', 'mulligan sessions delete --older-than 30d'],
  'sessions list': ['mulligan sessions', 'mulligan sessions list --all --limit 10'],
  'sessions show': ['mulligan sessions show --last', 'mulligan sessions show 20261121-2356'],
  'sessions resume': ['mulligan sessions resume', 'mulligan sessions resume 20261121-2356 "and now the tests"'],
  'sessions branch': ['mulligan sessions branch --last', 'mulligan sessions branch 20261121-2356 --at 3'],
  'sessions delete': ['mulligan sessions delete 20261121-2356', 'mulligan sessions delete --older-than 30d --yes'],
  'sessions repair': ['mulligan sessions repair'],
  'sessions export': [
    'mulligan sessions export --last > session.md',
    'mulligan sessions export 20261121-2356 --format json -o session.json',
  ],
  'sessions rename': ['mulligan sessions rename 20261121-2356 "the failing tests"'],
  report: ['mulligan report', 'mulligan report --since 7d --html report.html'],
  serve: ['mulligan serve', 'mulligan serve --port 8080 --json'],
  approvals: ['mulligan approvals', 'mulligan approvals allow a1b2'],
  'approvals list': ['mulligan approvals', 'mulligan approvals list --all'],
  'approvals show': ['mulligan approvals show a1b2'],
  'approvals allow': ['mulligan approvals allow a1b2', 'mulligan approvals allow a1b2 --for-session'],
  'approvals deny': ['mulligan approvals deny a1b2 --reason "not on a Friday"'],
  auth: ['mulligan auth status', 'mulligan auth google --client client.json'],
  'auth google': ['mulligan auth google --client client.json', 'mulligan auth google --no-browser'],
  'auth mail': [
    'mulligan auth mail',
    'mulligan auth mail --address ana@example.com --imap imaps://imap.example.com --smtp smtps://smtp.example.com',
  ],
  'auth status': ['mulligan auth status', 'mulligan auth status --json'],
  'auth logout': ['mulligan auth logout google', 'mulligan auth logout mail'],
  logs: ['mulligan logs --follow', 'mulligan logs 20261121-2356 --json'],
  acp: ['mulligan acp', 'mulligan acp --model ollama/NAME --mode auto-edit'],
  mcp: [
    'mulligan mcp add notes -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
    'mulligan mcp test',
    'mulligan mcp proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
  ],
  'mcp list': ['mulligan mcp', 'mulligan mcp list --json'],
  'mcp add': [
    'mulligan mcp add notes -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
    'mulligan mcp add tickets --url https://mcp.example.com/mcp --header "Authorization: Bearer $TOKEN"',
  ],
  'mcp serve': [
    'mulligan mcp serve --cwd ~/project',
    'mulligan mcp serve --tools "read_file,grep,git_*" --mode read-only',
    'mulligan mcp serve --http 8123',
  ],
  'mcp remove': ['mulligan mcp remove notes'],
  'mcp login': ['mulligan mcp login tickets', 'mulligan mcp login https://mcp.example.com/mcp --no-browser'],
  'mcp logout': ['mulligan mcp logout tickets'],
  'mcp test': ['mulligan mcp test', 'mulligan mcp test notes'],
  'mcp proxy': [
    'mulligan mcp proxy -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
    'mulligan mcp proxy --url https://mcp.example.com/mcp --header "Authorization: Bearer $TOKEN"',
    'mulligan mcp proxy --observe -- my-server',
  ],
  'mcp resolve': ['mulligan mcp resolve', 'mulligan mcp resolve 12'],
  sandbox: ['mulligan sandbox run -- npm test', 'mulligan sandbox pull'],
  'sandbox pull': ['mulligan sandbox pull', 'mulligan sandbox pull docker.io/library/python:3.13-bookworm --backend podman'],
  doctor: ['mulligan doctor', 'mulligan doctor --json'],
  demo: ['mulligan demo', 'mulligan demo --without alias'],
}

const TEXTS: Readonly<Record<string, string>> = {
  run: `
Exit code: 0 answered, 1 failed, 2 usage or configuration, 3 stopped by a limit or the loop guard,
4 approval needed but nobody was there to give it, 130 cancelled.

Environment: MULLIGAN_MODEL, MULLIGAN_BASE_URL, MULLIGAN_API_KEY (your own server),
ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, OPENAI_API_KEY, OPENAI_BASE_URL, GOOGLE_GENERATIVE_AI_API_KEY, GEMINI_API_KEY,
OLLAMA_HOST, MULLIGAN_LMSTUDIO_URL, MULLIGAN_LLAMACPP_URL, MULLIGAN_VLLM_URL, MULLIGAN_CONTEXT (tokens),
MULLIGAN_SANDBOX, MULLIGAN_SANDBOX_NETWORK, MULLIGAN_SANDBOX_MEM, MULLIGAN_SANDBOX_TIMEOUT,
MULLIGAN_MODE, MULLIGAN_CONFIG, XDG_CONFIG_HOME, MULLIGAN_DATA_DIR, XDG_DATA_HOME, MULLIGAN_DEBUG, NO_COLOR, FORCE_COLOR.
Configuration keys have variables too: mulligan config explain KEY shows the variable for a key.

Examples:
  mulligan "why does npm test fail?" --model ollama/NAME
  npm test 2>&1 | mulligan "what went wrong?" --model my-model --base-url http://localhost:8080/v1
  mulligan run --last "and now fix it"
  mulligan run --last                      resume an interrupted turn`,
  config: `
Precedence: flag, environment, project file, your own file, default. For limits, the lowest value wins.
A project file can never loosen a setting.`,
  'sandbox run': `
Exit code: that of the command, or 128 plus the signal that ended it. 124 time limit reached, 125 the sandbox
could not start, 130 cancelled, 137 stopped by a limit.

Examples:
  mulligan sandbox run -- npm test
  mulligan sandbox run 'npm test 2>&1 | tail -5'
  mulligan sandbox run --network bridge --timeout 300 -- npm ci`,
  eval: `
Each run works in its own temporary folder. Apart from the model, your configuration is ignored.
Exit code: 0 when every run completed, whatever the scores, 1 when some could not, 2 usage or configuration, 130 stopped.

Examples:
  mulligan eval --model ollama/NAME --jsonl runs.jsonl
  mulligan eval --model NAME --base-url http://localhost:8080/v1 --tasks wrong-path,edit-crlf --runs 5
  mulligan eval --model ollama/NAME --resume runs.jsonl      continue after Ctrl-C`,
  completion: `
Setup:
  bash         source <(mulligan completion bash)                    in ~/.bashrc
  zsh          source <(mulligan completion zsh)                     in ~/.zshrc, below compinit
  fish         mulligan completion fish > ~/.config/fish/completions/mulligan.fish
  powershell   mulligan completion powershell | Out-String | Invoke-Expression     in $PROFILE`,
}

/** Adds the text to a command and its subcommands. */
export function addHelp(command: Command, path: readonly string[] = []): void {
  const name = path.join(' ')
  const examples = EXAMPLES[name]
  if (TEXTS[name] !== undefined) command.addHelpText('after', TEXTS[name])
  if (examples) command.addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
  for (const one of command.commands) addHelp(one, [...path, one.name()])
}
