/** Tools that are strict about their input without saying what is valid, so that the model has to find out. */
import { defineTool, ModelRetry, ok } from '@mulligan/core'
import { z } from 'zod'

const DRAWERS: Readonly<Record<string, string>> = { socks: 'twelve socks', letters: 'two letters' }

function even(parameter: string, value: number): void {
  if (value % 2 !== 0) throw new ModelRetry(`A ${parameter} of ${value} is odd.`, { parameter, value, constraint: 'an even number' })
}

export default [
  defineTool({
    name: 'measure',
    description: 'The area of a board.',
    effect: 'read',
    retries: 2,
    input: z.object({ width: z.number(), height: z.number() }),
    execute: ({ width, height }) => {
      even('width', width)
      even('height', height)
      return ok(width * height)
    },
  }),
  defineTool({
    name: 'open_drawer',
    description: 'Says what is in a drawer.',
    effect: 'read',
    retries: 1,
    input: z.object({ drawer: z.string() }),
    execute: ({ drawer }) => {
      if (Object.hasOwn(DRAWERS, drawer)) return ok(DRAWERS[drawer])
      throw new ModelRetry(`There is no drawer "${drawer}".`, {
        errorType: 'not_found',
        parameter: 'drawer',
        value: drawer,
        constraint: 'the name of a drawer',
      })
    },
  }),
]
