import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (name: string): string => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      ...[
        'repair',
        'core',
        'sandbox',
        'tools',
        'ai-sdk',
        'langchain',
        'openai-agents',
        'mastra',
        'agent',
        'testing',
        'host',
        'acp',
        'assistant',
        'server',
        'eval',
        'mcp',
      ].map((name) => ({
        find: new RegExp(`^@mulligan/${name}$`),
        replacement: source(name),
      })),
      { find: '@mulligan/core/executor', replacement: fileURLToPath(new URL('./packages/core/src/executor.ts', import.meta.url)) },
      { find: '@mulligan/core/adapter', replacement: fileURLToPath(new URL('./packages/core/src/adapter.ts', import.meta.url)) },
      {
        find: '@mulligan/server/client',
        replacement: fileURLToPath(new URL('./packages/server/src/client.ts', import.meta.url)),
      },
      {
        find: '@mulligan/server/reliability',
        replacement: fileURLToPath(new URL('./packages/server/src/reliability/index.ts', import.meta.url)),
      },
      {
        find: '@mulligan/server/present',
        replacement: fileURLToPath(new URL('./packages/server/src/reliability/present.ts', import.meta.url)),
      },
      { find: /^@mulligan\/host\/(light|parts)$/, replacement: fileURLToPath(new URL('./packages/host/src/$1.ts', import.meta.url)) },
    ],
  },
  test: {
    fsModuleCache: true,
    setupFiles: ['scripts/seed.ts'],
    include: [
      'packages/*/src/**/*.test.ts',
      'apps/*/src/**/*.test.{ts,tsx}',
      'apps/*/test/**/*.test.ts',
      'scripts/**/*.test.ts',
      'docs/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    // One more than the cores, because tests mostly wait for processes, timers and disks. The default is one fewer.
    maxWorkers: availableParallelism() + 1,
    // Nothing is held to its time: this ends what hangs, on a busy machine too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
})
