import { expect, it, vi } from 'vitest'
import { environment } from './environment.ts'
import { configJsonSchema } from './json-schema.ts'
import { keysIn } from './keys.ts'

vi.mock(import('./json-schema.ts'), { spy: true })

it('every variable of a key counts, and none of them passes for one of something else', () => {
  const variables = keysIn(configJsonSchema()).flatMap(({ key, variables }) => variables.map((variable) => ({ key, variable })))
  expect(variables.length).toBeGreaterThan(20)
  const said = ({ key, variable }: (typeof variables)[number]): string => {
    try {
      return environment({ [variable]: '1' }).from(key)
    } catch (error) {
      return (error as Error).message.split('=')[0] as string
    }
  }
  expect(variables.map(said)).toEqual(variables.map(({ variable }) => variable))
})

it('variables of other things make no schema: a start would wait for it', () => {
  vi.mocked(configJsonSchema).mockClear()
  const env = { HOME: '/home/me', MULLIGAN_CONTEXT: '32768', MULLIGAN_DATA_DIR: '/data', MULLIGAN_API_KEY: 'k', MULLIGAN_DEBUG: '1' }
  expect(environment(env).values).toEqual({})
  expect(configJsonSchema).not.toHaveBeenCalled()
  expect(environment({ ...env, MULLIGAN_MODE: 'auto' }).values).toEqual({ mode: 'auto' })
})
