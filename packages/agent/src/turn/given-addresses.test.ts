import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { givesAddress, givesWords } from './given-addresses.ts'

const gives = (text: string, address: string): boolean => givesAddress(text, new URL(address))

describe('a text gives an address', () => {
  it.each([
    ['https://a.example/x', 'https://a.example/x'],
    ['See https://a.example/x.', 'https://a.example/x'],
    ['See https://a.example/x, then', 'https://a.example/x'],
    ['(https://a.example/x)', 'https://a.example/x'],
    ['(see https://a.example/x).', 'https://a.example/x'],
    ['"https://a.example/x"', 'https://a.example/x'],
    ["'https://a.example/x'", 'https://a.example/x'],
    ['`https://a.example/x`', 'https://a.example/x'],
    ['<https://a.example/x>', 'https://a.example/x'],
    ['**https://a.example/x**', 'https://a.example/x'],
    ['[the page](https://a.example/x)', 'https://a.example/x'],
    ['[the page](https://a.example/x "title")', 'https://a.example/x'],
    ['[https://a.example/x](https://b.example/y)', 'https://a.example/x'],
    ['[https://a.example/x](https://b.example/y)', 'https://b.example/y'],
    ['[1]: https://a.example/x', 'https://a.example/x'],
    ['<a href="https://a.example/?a=1&amp;b=2">', 'https://a.example/?a=1&b=2'],
    ['{"url":"https://a.example/x"}', 'https://a.example/x'],
    ['| https://a.example/x | y |', 'https://a.example/x'],
    ['https://en.example/wiki/Go_(game)', 'https://en.example/wiki/Go_(game)'],
    ['[Go](https://en.example/wiki/Go_(game))', 'https://en.example/wiki/Go_(game)'],
    ['[Go](https://en.example/wiki/Go_\\(game\\))', 'https://en.example/wiki/Go_(game)'],
    ['https://a.example/x/?q=1.', 'https://a.example/x/?q=1'],
    ['https://a.example/x?', 'https://a.example/x?'],
    ['https://A.Example:443/x', 'https://a.example/x'],
    ['HTTPS://a.example/x', 'https://a.example/x'],
    ['https://a.example', 'https://a.example/'],
    ['https://a.example/x#top', 'https://a.example/x'],
    ['https://a.example/x', 'https://a.example/x#part'],
    ['https://a.example/x', 'https://a.example/x#'],
    ['https://a.example/Straße', 'https://a.example/Stra%C3%9Fe'],
    ['https://a.example/Stra%C3%9Fe', 'https://a.example/Straße'],
    ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
    ['a.example/x', 'https://a.example/x'],
    ['at a.example/x.', 'http://a.example/x'],
    ['http://a.example:8080/x', 'http://a.example:8080/x'],
    ['http://127.0.0.1:8080/x', 'http://127.0.0.1:8080/x'],
    ['http://[::1]:8080/x', 'http://[::1]:8080/x'],
    ['看 https://a.example/x。谢谢', 'https://a.example/x'],
    ['https://a.example/x…', 'https://a.example/x'],
  ])('%j gives %s', (text, address) => expect(gives(text, address)).toBe(true))

  it.each([
    // more characters at the end, or fewer
    ['https://a.example/x', 'https://a.example/x?leak=1'],
    ['https://a.example/x', 'https://a.example/x/y'],
    ['https://a.example/x', 'https://a.example/x/'],
    ['https://a.example/xyz', 'https://a.example/x'],
    ['https://a.example/x/y', 'https://a.example/x'],
    ['https://en.example/wiki/Go_\\(game\\)', 'https://en.example/wiki/Go_'],
    ['https://a.example/x?k=123', 'https://a.example/x?k=12'],
    ['https://a.example/x?k=123', 'https://a.example/x'],
    ['https://a.example/x', 'https://a.example/'],
    ['https://a.example/?k=', 'https://a.example/?k=hunter2'],
    ['https://a.example/?q= followed by hunter2', 'https://a.example/?q=hunter2'],
    // another host
    ['https://a.example/x', 'https://k.a.example/x'],
    ['https://k.a.example/x', 'https://a.example/x'],
    ['https://a.example/x', 'http://a.example/x'],
    ['https://a.example/x', 'https://a.example:8443/x'],
    ['https://a.example/x', 'https://a.example./x'],
    ['https://a.example/x', 'https://ann@a.example/x'],
    ['https://ann@a.example/x', 'https://a.example/x'],
    ['https://a.example@b.example/x', 'https://a.example/x'],
    ['ann@a.example', 'https://a.example/'],
    ['https://b.example/?to=https://a.example/x', 'https://a.example/x'],
    ['https://b.example/a.example/x', 'https://a.example/x'],
    // another spelling of the same address: each choice is a bit
    ['https://a.example/abc', 'https://a.example/%61bc'],
    ['https://a.example/%2F', 'https://a.example/%2f'],
    ['https://a.example/Abc', 'https://a.example/abc'],
    ['https://a.example/x', 'https://a.example//x'],
    // split up
    ['https://a. example/x', 'https://a.example/x'],
    ['https://a.example/ x', 'https://a.example/x'],
    ['', 'https://a.example/x'],
  ])('%j does not give %s', (text, address) => expect(gives(text, address)).toBe(false))

  const segment = fc.stringMatching(/^[a-z0-9]{1,8}$/)
  const address = fc
    .record({ host: segment, path: fc.array(segment, { maxLength: 3 }), query: fc.option(segment) })
    .map(({ host, path, query }) => `https://${host}.example/${path.join('/')}${query === null ? '' : `?q=${query}`}`)
  const around = fc.constantFrom<[string, string]>(
    ['', ''],
    ['see ', '.'],
    ['(', ')'],
    ['[x](', ')'],
    ['<', '>'],
    ['"', '",'],
    ['**', '**'],
  )

  it('property: whatever stands around it, an address is given, and so is nothing but that', () => {
    fc.assert(
      fc.property(address, around, segment, fc.nat(), (given, [before, after], more, at) => {
        const text = `one two ${before}${given}${after} three`
        expect(gives(text, given)).toBe(true)
        const cut = given.slice(0, 9 + (at % Math.max(1, given.length - 9)))
        for (const other of [
          `${given}${more}`,
          `${given}?k=${more}`,
          `${given}&k=${more}`,
          `${given}/${more}`,
          given.replace('://', `://${more}.`),
          cut,
        ]) {
          const url = URL.parse(other)
          if (url && url.href !== new URL(given).href) expect([other, givesAddress(text, url)]).toEqual([other, false])
        }
      }),
    )
  })

  it('a long hostile text comes to its end', () => {
    for (const text of ['a.'.repeat(200_000), 'https://'.repeat(50_000), `https://a.example/${'.'.repeat(400_000)}`, '('.repeat(400_000)])
      expect(gives(text, 'https://a.example/x')).toBe(false)
  })
})

it.each([
  ['search for mulligan golf rules, please', 'mulligan golf rules', true],
  ['mulligan\n  golf', 'mulligan golf', true],
  ['mulligan golf', 'mulligan', true],
  ['mulligans', 'mulligan', false],
  ['golf mulligan', 'mulligan golf', false],
  ['mulligan golf', 'mulligan golf hunter2', false],
  ['mulligan golf', '', false],
])('%j gives the words %j: %s', (text, words, expected) => expect(givesWords(text, words)).toBe(expected))
