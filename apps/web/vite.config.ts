/** Builds the page into the server's package: hashed files, nothing inline, so that its content security policy needs no exception. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: at('.'),
  base: './',
  logLevel: 'warn',
  resolve: {
    alias: [
      { find: /^@mulligan\/(core|repair)$/, replacement: at('../../packages/$1/src/index.ts') },
      { find: '@mulligan/core/executor', replacement: at('../../packages/core/src/executor.ts') },
      { find: '@mulligan/server/client', replacement: at('../../packages/server/src/client.ts') },
      { find: '@mulligan/server/present', replacement: at('../../packages/server/src/reliability/present.ts') },
    ],
  },
  build: {
    outDir: at('../../packages/server/dist/web'),
    emptyOutDir: true,
    target: 'esnext',
    cssTarget: ['chrome123', 'safari17.5', 'firefox128'],
    // A data: URL would need an exception in the policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
