import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLog } from './jobs.ts'

test('lines come whole, of both streams, and what is not ended is told apart', () => {
  const log = createLog()
  log.push('a\nb', 'stdout')
  log.push('error\n', 'stderr')
  log.push('c\nPassword:', 'stdout')
  expect(log.read(0, 10)).toEqual({ from: 0, lines: ['a', 'error', 'bc'], more: 0, lost: 0 })
  expect(log.open()).toBe('Password:')
  log.end()
  expect([log.read(-1, 10).lines, log.open()]).toEqual([['Password:'], ''])
})

test('the oldest go, and that is said', () => {
  const log = createLog(100)
  for (let n = 0; n < 1000; n++) log.push(`line ${n}\n`, 'stdout')
  const { from, lines, lost } = log.read(0, 1000)
  expect(lines.at(-1)).toBe('line 999')
  expect(lines[0]).toBe(`line ${from}`)
  expect([lost, lines.join('\n').length < 100, log.total()]).toEqual([from, true, 1000])
})

test('a line without end does not grow for ever', () => {
  const log = createLog()
  for (let n = 0; n < 100; n++) log.push('x'.repeat(10_000), 'stdout')
  expect(log.open().length + (log.read(0, 1000).lines.at(-1)?.length ?? 0)).toBeLessThan(200_000)
})

test('however it is cut into pieces, the text is the same', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '\n', 'b', ' '), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 9 })), (parts, sizes) => {
      const log = createLog()
      let rest = parts.join('')
      for (const size of sizes) {
        log.push(rest.slice(0, size), 'stdout')
        rest = rest.slice(size)
      }
      log.push(rest, 'stdout')
      log.end()
      expect(log.read(0, 1000).lines.join('\n')).toBe(parts.join('').replace(/\n$/, ''))
    }),
  )
})
