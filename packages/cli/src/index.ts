/** What a file in `.mulligan/tools` may import: `import { defineTool, ModelRetry } from 'mulligan'`. */
export * from '@mulligan/core'
export * from '@mulligan/core/executor'
