import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isWithin } from '../paths.ts'
import { lies, type Mount, pinned } from './view.ts'

const ro = (target: string, source = `/real${target}`): Mount => ({ source, target, mode: 'read-only' })
const rw = (target: string, source = `/real${target}`): Mount => ({ source, target, mode: 'read-write' })

it('holds each folder between a writable mount and a mount point in it', () => {
  expect(pinned([rw('/home/u', '/own/home'), ro('/home/u/.local/share/uv')])).toEqual([
    rw('/home/u', '/own/home'),
    rw('/home/u/.local', '/own/home/.local'),
    rw('/home/u/.local/share', '/own/home/.local/share'),
    ro('/home/u/.local/share/uv'),
  ])
})

it('needs none where nothing can be moved', () => {
  const mounts = [ro('/usr'), ro('/usr/local/etc'), rw('/home/u'), ro('/home/u/.nvm'), ro('/home/u/.nvm/a/b')]
  expect(pinned(mounts)).toEqual(mounts)
})

it('holds a folder once', () => {
  const targets = pinned([rw('/w'), ro('/w/.git/hooks'), ro('/w/.git/config')]).map(({ target }) => target)
  expect(targets).toEqual(['/w', '/w/.git', '/w/.git/hooks', '/w/.git/config'])
})

it('leaves no folder that can be moved above any mount point', () => {
  const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`)
  const mount = fc.record({ target: path, mode: fc.constantFrom('read-only' as const, 'read-write' as const) })
  fc.assert(
    fc.property(fc.uniqueArray(mount, { selector: ({ target }) => target, maxLength: 8 }), (some) => {
      const mounts = pinned(some.map(({ target, mode }) => ({ source: `/real${target}`, target, mode })))
      for (const [at, { target }] of mounts.entries()) {
        const under = lies(target, mounts.slice(0, at))
        if (under?.mode !== 'read-write') continue
        // Created directly in the folder that is itself a mount point.
        expect(target.slice(under.target.length + 1)).not.toContain('/')
        expect(isWithin(under.target, target)).toBe(true)
      }
    }),
  )
})
