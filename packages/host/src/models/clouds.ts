/** The cloud providers. They are loaded only if they are used. */

/** What must be known about a cloud provider before it is loaded. */
export interface Cloud {
  readonly host: string
  /** Variables that may hold its key; the first one is shown to the user. */
  readonly keys: readonly [string, ...string[]]
  /** Where to get a key. */
  readonly keysAt: string
}

export const CLOUDS = {
  anthropic: { host: 'api.anthropic.com', keys: ['ANTHROPIC_API_KEY'], keysAt: 'https://console.anthropic.com/settings/keys' },
  openai: { host: 'api.openai.com', keys: ['OPENAI_API_KEY'], keysAt: 'https://platform.openai.com/api-keys' },
  google: {
    host: 'generativelanguage.googleapis.com',
    keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
    keysAt: 'https://aistudio.google.com/apikey',
  },
} satisfies Readonly<Record<string, Cloud>>
