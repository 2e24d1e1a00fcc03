/** The providers in the cloud. */

/** What must be known of a provider in the cloud before it is asked for. */
export interface Cloud {
  readonly host: string
  /** Variables that may hold its key; the first one is named to the person. */
  readonly keys: readonly [string, ...string[]]
  /** Where to get one. */
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
