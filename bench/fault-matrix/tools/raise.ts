/** A tool that throws the requested error, as one of the three typed errors. */
import { defineTool, ModelRetry, ok, ToolFailure, TransientError } from '@mulligan/core'
import type { ErrorType, Status } from '@mulligan/core/executor'
import { z } from 'zod'

export default defineTool({
  name: 'raise',
  description: 'Opens an entry.',
  effect: 'read',
  input: z.object({
    entry: z.string(),
    as: z.enum(['retry', 'failure', 'transient']),
    type: z.string().optional(),
    status: z.string().optional(),
    retryAfter: z.number().optional(),
  }),
  execute: ({ entry, as, type, status, retryAfter }) => {
    if (entry === 'good') return ok('The good entry.')
    const kind = {
      ...(type !== undefined && { errorType: type as ErrorType }),
      ...(status !== undefined && { status: status as Status }),
    }
    if (as === 'failure') throw new ToolFailure('The entry is locked.', kind)
    if (as === 'transient') throw new TransientError('The index is busy.', { ...kind, ...(retryAfter !== undefined && { retryAfter }) })
    throw new ModelRetry(`Entry "${entry}" will not do.`, {
      ...kind,
      parameter: 'entry',
      value: entry,
      constraint: 'an entry that is open',
      suggestion: 'good',
    })
  },
})
