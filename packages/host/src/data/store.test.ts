import { registerHooks } from 'node:module'
import { afterAll, expect, it } from 'vitest'
import { openStoreAt, openStoreIfAny } from './store.ts'

const hooks = registerHooks({
  resolve: (specifier, context, next) => {
    if (/^pg$|\/node_modules\/pg\//.test(specifier)) throw Object.assign(new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' })
    return next(specifier, context)
  },
})
afterAll(() => hooks.deregister())

it('a PostgreSQL store without the package pg says what to install, and which setting asks for it', async () => {
  const env = { MULLIGAN_STORE: 'postgres://me:secret@127.0.0.1:1/x' }
  const opening = openStoreAt({ store: '/nowhere' }, env, () => undefined)
  await expect(opening).rejects.toMatchObject({
    name: 'UsageError',
    message: expect.stringMatching(/^the store can't be opened: .*needs the package pg.*npm install pg/),
    hint: expect.stringContaining('MULLIGAN_STORE'),
  })
  await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining('secret') })
  expect(await openStoreIfAny({ store: '/nowhere' }, env)).toBeUndefined()
})
