import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (name: string): string => fileURLToPath(new URL(`./packages/${name}/src/index.ts`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      ...['repair', 'core', 'sandbox', 'tools', 'ai-sdk', 'agent', 'testing', 'host', 'eval'].map((name) => ({
        find: new RegExp(`^@mulligan/${name}$`),
        replacement: source(name),
      })),
      { find: /^@mulligan\/host\/(light|parts)$/, replacement: fileURLToPath(new URL('./packages/host/src/$1.ts', import.meta.url)) },
    ],
  },
  test: {
    fsModuleCache: true,
    include: ['packages/*/src/**/*.test.ts', 'scripts/**/*.test.ts', 'docs/**/*.test.ts', 'bench/**/*.test.ts'],
    // Nothing is held to its time: this ends what hangs, on a busy machine too.
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
