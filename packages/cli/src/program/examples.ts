/** Examples shown below the help of each command that has no help text of its own. */
import type { Command } from 'commander'

const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  '': [
    'mulligan demo                             see Mulligan work; needs no model',
    'mulligan doctor                           check the setup',
    'mulligan models                           list the models',
    'mulligan "what is in this folder?"',
  ],
  chat: ['mulligan chat --model ollama/NAME', 'mulligan chat --last'],
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
  'sessions delete': ['mulligan sessions delete 20261121-2356', 'mulligan sessions delete --older-than 30d --yes'],
  'sessions repair': ['mulligan sessions repair'],
  'sessions export': [
    'mulligan sessions export --last > session.md',
    'mulligan sessions export 20261121-2356 --format json -o session.json',
  ],
  sandbox: ['mulligan sandbox run -- npm test', 'mulligan sandbox pull'],
  'sandbox pull': ['mulligan sandbox pull', 'mulligan sandbox pull docker.io/library/python:3.13-bookworm --backend podman'],
  doctor: ['mulligan doctor', 'mulligan doctor --json'],
  demo: ['mulligan demo', 'mulligan demo --without alias'],
}

export function addExamples(command: Command, path: readonly string[] = []): void {
  const examples = EXAMPLES[path.join(' ')]
  if (examples) command.addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
  for (const one of command.commands) addExamples(one, [...path, one.name()])
}
