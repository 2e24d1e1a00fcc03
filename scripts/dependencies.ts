/** Defines which package may import which. */
import { globSync, readFileSync } from 'node:fs'

/** The packages that the shipped code of each package may import. Tests may also import `testing`. */
const MAY_KNOW: Readonly<Record<string, readonly string[]>> = {
  repair: [],
  core: ['repair'],
  sandbox: [],
  tools: ['core', 'sandbox'],
  testing: ['core'],
  'ai-sdk': ['core', 'repair'],
  langchain: ['core'],
  'openai-agents': ['core', 'repair'],
  mastra: ['core', 'repair'],
  agent: ['core', 'repair'],
  mcp: ['core', 'repair'],
  assistant: ['core', 'tools'],
  host: ['repair', 'core', 'sandbox', 'tools', 'agent', 'mcp', 'assistant'],
  acp: ['core', 'tools', 'agent', 'mcp', 'host'],
  server: ['core', 'tools', 'agent', 'host'],
  eval: ['repair', 'core', 'sandbox', 'tools', 'agent', 'host'],
  cli: ['repair', 'core', 'sandbox', 'tools', 'agent', 'mcp', 'assistant', 'host', 'acp', 'server', 'eval', 'testing'],
}
/** Entry points besides the main one, and the packages that may use them. */
const SIDE_DOORS: Readonly<Record<string, readonly string[]>> = {
  '@mulligan/core/executor': [
    'assistant',
    'tools',
    'testing',
    'ai-sdk',
    'agent',
    'mcp',
    'host',
    'acp',
    'server',
    'eval',
    'cli',
    'langchain',
    'openai-agents',
    'mastra',
  ],
  '@mulligan/core/adapter': ['langchain', 'openai-agents', 'mastra', 'ai-sdk'],
  '@mulligan/server/client': ['cli'],
  '@mulligan/server/reliability': ['cli'],
  '@mulligan/host/light': ['acp', 'server', 'eval', 'cli'],
  '@mulligan/host/parts': ['acp', 'server', 'eval', 'cli'],
}
/** Packages that run without Node. */
const NO_NODE = ['repair', 'core', 'ai-sdk', 'langchain', 'openai-agents', 'mastra']
/** Types of the AI SDK's contract leave no code in the output; the SDK itself is a peer of the package that integrates it. */
const isContract = (name: string, statement: string, target: string): boolean =>
  name === 'ai-sdk' && (target === 'ai' || (target === '@ai-sdk/provider' && /^(?:import|export) type\b/.test(statement)))

/** Imports in the code, without examples in comments and strings. */
const IMPORT = /^(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*'([^']+)'|\bimport\('([^']+)'\)/gm

/** The import specifiers of a file. */
export const importsIn = (text: string): readonly string[] => [...text.matchAll(IMPORT)].map(([, still, lazy]) => still ?? lazy ?? '')

export function wrongArrows(
  files: readonly string[] = globSync('packages/*/src/**/*.{ts,tsx}'),
  read = (file: string) => readFileSync(file, 'utf8'),
): string[] {
  const wrong: string[] = []
  for (const file of files) {
    const [, name = ''] = file.split('/')
    const test = /\.(?:test|fixture)\.tsx?$|\/fixtures\//.test(file)
    for (const [statement, still, lazy] of read(file).matchAll(IMPORT)) {
      const target = still ?? lazy ?? ''
      const known = target === 'mulligan' ? 'cli' : /^@mulligan\/([^/]+)/.exec(target)?.[1]
      if (!test && known !== undefined && known !== name && !MAY_KNOW[name]?.includes(known))
        wrong.push(`${file} imports ${target}: ${name} may know only ${MAY_KNOW[name]?.join(', ') || 'nobody'}`)
      if (known === name) wrong.push(`${file} imports ${target}: its own package, by name`)
      if (/^@mulligan\/[^/]+\//.test(target) && !SIDE_DOORS[target]?.includes(name))
        wrong.push(`${file} imports ${target}: past the package's front door`)
      const isOutside = target.startsWith('node:') || target === 'ai' || target.startsWith('@ai-sdk/')
      if (NO_NODE.includes(name) && !test && isOutside && !isContract(name, statement, target))
        wrong.push(`${file} imports ${target}: ${name} runs where there is none`)
      const leaves = target.startsWith('.') && target.split('../').length - 1 > file.split('/').length - 4
      if (leaves && !(test && target.endsWith('.fixture.ts'))) wrong.push(`${file} imports ${target}: a file of another package`)
    }
  }
  return wrong
}

/** What code that runs in a browser may load of the packages. Types leave nothing in the output. */
const IN_BROWSER: readonly string[] = ['@mulligan/core', '@mulligan/server/client', '@mulligan/server/present']

/** Imports of the page, and of the server's client, that would not run in a browser. */
export function wrongInBrowser(
  files: readonly string[] = globSync(['apps/web/src/**/*.{ts,tsx}', 'packages/server/src/client.ts', 'packages/server/src/client/*.ts']),
  read = (file: string) => readFileSync(file, 'utf8'),
): string[] {
  return files
    .filter((file) => !/\.(?:test|fixture)\.tsx?$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(IMPORT)].flatMap(([statement, still, lazy]) => {
        const target = still ?? lazy ?? ''
        if (/^(?:import|export) type\b/.test(statement)) return []
        const isServer = file.startsWith('packages/') && target.startsWith('../')
        const isAbsent = target.startsWith('node:') || (target.startsWith('@mulligan/') && !IN_BROWSER.includes(target))
        return isServer || isAbsent ? [`${file} imports ${target}: it runs in a browser`] : []
      }),
    )
}
