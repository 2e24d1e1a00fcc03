/** Two other agents of the terminal, installed from npm: how they are started, and asked a first question of a server of ours. */

export interface Peer {
  /** With its version: the figures are of that one. */
  readonly package: string
  /** In `node_modules/.bin`. */
  readonly bin: string
  /** One turn, without a person, against a server that speaks OpenAI's API. */
  readonly ask: (baseUrl: string) => { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
}

export const PEERS: Readonly<Record<string, Peer>> = {
  codex: {
    package: '@openai/codex@0.169.0',
    bin: 'codex',
    ask: (baseUrl) => ({
      args: [
        ...['exec', '--skip-git-repo-check', '-c', 'model_provider="local"', '-c', 'model="any"'],
        ...['-c', `model_providers.local={name="local",base_url="${baseUrl}",wire_api="responses"}`, 'hi'],
      ],
      env: {},
    }),
  },
  'qwen-code': {
    package: '@qwen-code/qwen-code@0.24.4',
    bin: 'qwen',
    ask: (baseUrl) => ({
      args: ['-p', 'hi', '--approval-mode', 'plan'],
      env: { OPENAI_API_KEY: 'any', OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: 'any' },
    }),
  },
}
