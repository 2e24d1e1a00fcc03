/** What a file in `.mulligan/tools` may import: `import { defineTool, ModelRetry } from 'mulligan'`. */
export * from '@mulligan/core'
