/** A tool that throws unexpected exceptions. `kanarie` stands for a secret: it is in the message, the cause, the environment and the name of this file. */
import { defineTool, ModelRetry, ok, ToolFailure } from '@mulligan/core'
import { z } from 'zod'

class DatabaseError extends Error {}

const token = process.env['SERVICE_TOKEN']
const whole = () => new DatabaseError(`kanarie-message with ${token}`, { cause: new Error('kanarie-cause') })

const THROWS = {
  error: () => {
    throw whole()
  },
  cause: () => {
    throw new ToolFailure('The database did not answer.', { cause: whole() })
  },
  retry: () => {
    throw new ModelRetry('The key is too short.', { parameter: 'key', value: 'k', constraint: 'three letters', cause: whole() })
  },
  rejected: () => Promise.reject(whole()),
  text: () => {
    throw `kanarie-message with ${token}`
  },
  object: () => {
    throw { message: 'kanarie-message', code: 'KANARIE', token }
  },
  code: () => {
    throw Object.assign(new Error('kanarie-message'), { code: 'EKANARIE', path: process.env['HOME'] })
  },
  permission: () => {
    throw Object.assign(whole(), { code: 'EACCES', path: process.env['HOME'] })
  },
  name: () => {
    throw Object.assign(new Error('kanarie-message'), { name: 'kanarie-name' })
  },
  callback: () => {
    setTimeout(() => {
      throw whole()
    })
    return new Promise((resolve) => setTimeout(resolve, 50, 'done'))
  },
  nothing: () => ok('done'),
} as const

const KINDS = Object.keys(THROWS) as [keyof typeof THROWS, ...(keyof typeof THROWS)[]]

export default [
  defineTool({
    name: 'crash',
    description: 'Looks into the database.',
    effect: 'read',
    input: z.object({ how: z.enum(KINDS), key: z.string().optional() }),
    execute: ({ how }): unknown => THROWS[how](),
  }),
  defineTool({
    name: 'crash_write',
    description: 'Writes to the database.',
    effect: 'write',
    input: z.object({ how: z.enum(KINDS) }),
    target: () => {
      throw whole()
    },
    execute: ({ how }): unknown => THROWS[how](),
  }),
  defineTool({
    name: 'crash_check',
    description: 'Has a rule for its input that breaks.',
    effect: 'read',
    input: z.object({ key: z.string().refine(() => THROWS.error()) }),
    execute: () => ok('done'),
  }),
  defineTool({
    name: 'tell',
    description: 'Tells a secret in words meant for everybody: the control of the check for leaks.',
    effect: 'read',
    input: z.object({}),
    execute: () => {
      throw new ToolFailure('The password is kanarie-told.')
    },
  }),
]
