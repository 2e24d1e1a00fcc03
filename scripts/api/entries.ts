/** The entry points with a page in docs/api: a package, or a package and the name of a further entry. */
export const ENTRIES = [
  'core',
  'core/executor',
  'core/adapter',
  'repair',
  'ai-sdk',
  'langchain',
  'openai-agents',
  'mastra',
  'mcp',
  'agent',
  'host',
  'acp',
  'eval',
  'tools',
  'sandbox',
  'testing',
]
