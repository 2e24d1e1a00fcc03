/** Two other terminal agents, installed from npm: how to start them with a first question to our server. */

export interface Peer {
  /** The package with its version. */
  readonly package: string
  /** Its name in `node_modules/.bin`. */
  readonly bin: string
  /** One turn, without user input, with a server that has OpenAI's API. */
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
