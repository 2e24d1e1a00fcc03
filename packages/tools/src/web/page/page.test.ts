import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { itemsOf, step, withoutComments } from './css.ts'
import { isUnseen } from './hidden.ts'
import { hidingSelectors } from './hiding-rules.ts'
import { indentJson } from './indent-json.ts'
import { plainText, tooDeep } from './plain-text.ts'
import { readable } from './readable.ts'
import { render } from './render.ts'
import { withoutUnseen } from './unseen-characters.ts'

const URL_OF_PAGE = 'https://example.com/a/b'
const markdown = (html: string): string => readable(html, URL_OF_PAGE, 'markdown').text
const PROSE = '<p>Some sentences that are long enough, with commas, and so on, to be counted as the text of an article.</p>'.repeat(10)

describe('Markdown', () => {
  test('of the article, without what is around it', () => {
    const text = markdown(`<body><nav><a href="/x">Menu</a></nav><article><h2>Head</h2>${PROSE}</article><footer>Imprint</footer></body>`)
    expect(text).toMatch(/^## Head\n\nSome sentences/)
    expect(text).not.toMatch(/Menu|Imprint/)
  })

  test('of the whole body where there is no article', () => {
    expect(markdown('<body><ul><li><a href="one">One</a><li><a href="/two">Two</a></ul></body>')).toBe(
      '-   [One](https://example.com/a/one)\n-   [Two](https://example.com/two)',
    )
  })

  test('of a page that leaves out what may be left out', () => {
    expect(readable('<!doctype html><title>T</title><h1>Hi</h1><p>one<p>two', URL_OF_PAGE, 'markdown')).toEqual({
      title: 'T',
      text: '## Hi\n\none\n\ntwo',
    })
  })

  test('tables, code with its language, images that say what they show', () => {
    expect(markdown('<body><table><tr><th>a<th>b<tr><td>1<td>2</table></body>')).toBe('| a   | b   |\n| --- | --- |\n| 1   | 2   |')
    expect(markdown(`<body><article>${PROSE}<pre><code class="language-js">let a\n  b</code></pre></article>`)).toContain(
      '```js\nlet a\n  b\n```',
    )
    expect(
      markdown('<body><p>x <img src="/i.png" alt="A cat"><img src="/pixel.gif"><img alt=q src="data:image/png;base64,AAAA"></p>'),
    ).toBe('x ![A cat](https://example.com/i.png)')
  })

  test('links are absolute, by the base of the page, and lead to pages only', () => {
    const page =
      '<head><base href="/base/"></head><body><p><a href="x" title="do this">x</a> <a href="javascript:alert(1)">js</a> <a href="data:,y">data</a></p></body>'
    expect(markdown(page)).toBe('[x](https://example.com/base/x) js data')
  })
})

describe('what people do not see', () => {
  const HIDDEN = [
    '<p hidden>SECRET</p>',
    '<p hidden="until-found">SECRET</p>',
    '<p aria-hidden="true">SECRET</p>',
    '<p style="display:none">SECRET</p>',
    '<p style="color:red; DISPLAY : none !important">SECRET</p>',
    '<div style="visibility:hidden"><p>SECRET</p></div>',
    '<p style="opacity:0">SECRET</p>',
    '<p style="font-size:0px">SECRET</p>',
    '<p style="position:absolute;left:-9999px">SECRET</p>',
    '<p style="text-indent:-9999px">SECRET</p>',
    '<p style="display:/**/none">SECRET</p>',
    '<p style="clip:rect(0,0,0,0)">SECRET</p>',
    '<!-- SECRET -->',
    '<script>SECRET</script>',
    '<style>SECRET</style>',
    '<template><p>SECRET</p></template>',
    '<noscript>SECRET</noscript>',
    '<dialog>SECRET</dialog>',
    '<input type="hidden" value="SECRET">',
    '<textarea>SECRET</textarea>',
    '<svg><text>SECRET</text></svg>',
    '<iframe>SECRET</iframe>',
    '<p HIDDEN>SECRET</p>',
    '<P STYLE="DISPLAY:NONE" style="">SECRET</P>',
    '<p Aria-Hidden="true">SECRET</p>',
    '<p aria-hidden=" TRUE">SECRET</p>',
    '<p title="<"style = "display:none">SECRET</p>',
    `<p title="${'x'.repeat(5000)}" hidden>SECRET</p>`,
    '<style>.q{display:none}</style><p CLASS="a q">SECRET</p>',
    '<div popover>SECRET</div>',
    ...['noframes', 'noembed', 'datalist', 'video', 'audio', 'object', 'canvas', 'meter'].map((name) => `<${name}>SECRET</${name}>`),
  ]
  const SHEETS = [
    '<style media="all">.q{display:none}</style>',
    '<style media="print, Screen">.q{display:none}</style>',
    '<style>@media all{.q{display:none}}</style>',
    '<style>@media only screen { @layer a { .q{display:none} } }</style>',
    '<style>@layer a, b; @supports (display: grid) {.q{display:none}}</style>',
    `<style>${Array.from({ length: 5000 }, (_, at) => `.z${at}{display:none}`).join('')} p.q{display:none}</style>`,
    '<style>.a{content:"}"} .q{display:none}</style>',
    '<style>.a{content:"{"} .q{display:none}</style>',
    '<style>.a{background:url(})} .q{display:none}</style>',
    '<style>/*{*/.q{/*x*/display:none}</style>',
  ].map((sheet) => `${sheet}<p class="q">SECRET</p>`)
  test.each([...HIDDEN, ...SHEETS])('%s', (hidden) => {
    const page = `<html><body><p>before</p>${hidden}<p>after</p></body></html>`
    for (const text of [markdown(page), readable(page, URL_OF_PAGE, 'text').text, plainText(page)]) {
      expect(text).not.toContain('SECRET')
      expect(text).toMatch(/before[\s\S]*after/)
    }
  })

  test('control: without it the text is there', () => {
    const page = '<html><body><p>SECRET</p></body></html>'
    expect([markdown(page), plainText(page)]).toEqual(['SECRET', 'SECRET'])
  })

  test('by a style sheet, where it applies to all', () => {
    const sheet =
      '.a, #b { display: none } @media print { p { display: none } } .c:hover { opacity: 0 } .d { color: red } body { opacity: 0 }'
    expect(hidingSelectors(sheet)).toEqual(['.a, #b', 'body'])
    expect(hidingSelectors('.a { color: red; & .b, .c { display: none } }')).toEqual([':is(.a) .b, .c'])
    expect(
      markdown(`<html><head><style>${sheet}</style></head><body><p>seen</p><p class="a">SECRET</p><div id="b">SECRET</div></body></html>`),
    ).toBe('seen')
  })

  test('rules that are not simple are held against the tree', () => {
    const page = '<style>main > p:is(.q) { display: none } .r { & b { display: none } }</style>'
    expect(markdown(`<body>${page}<main><p>seen <p class=q>SECRET</main><p class=r>too <b>SECRET</b>`)).toBe('seen\n\ntoo')
  })

  test.each(['@media (max-width: 600px)', '@media print', '@supports not (display: grid)'])('%s need not apply', (rule) =>
    expect(hidingSelectors(`${rule} { .q { display: none } }`)).toEqual([]))

  test.each([
    'height:0;overflow:hidden',
    'max-height: 0px; overflow-y: clip',
    'position:absolute;left:-999px',
    'left:-100vw',
    'right:-9999px',
    'left: 9999px',
    'text-indent:-9999px',
    'margin-left: -2000px',
    'transform: rotate(1deg) translateX(-9999px)',
    'transform:scale(0.01)',
    'scale:0',
    'clip-path:inset(50%)',
    'clip-path: inset(0 100% 0 0)',
    'clip-path:circle(0)',
    'clip-path:polygon(0 0, 0 0, 0 0)',
    'clip:rect(1px, 1px, 1px, 1px)',
    'color:transparent',
    'color:#12345600',
    'color:rgb(1 2 3 / 0)',
    'font-size:1px',
    'font: 0/0 a',
    'opacity:.01',
    'opacity:0e1',
    'opacity: calc(0)',
    'filter:opacity(0)',
    'd\\69splay:none',
    'display:n\\6f ne',
    'display:none;display:nonsense',
    "background:url(data:a;b,');display:none",
    'a:";";display:none',
  ])('%s is not seen', (style) => expect(isUnseen(style)).toBe(true))

  test.each([
    'opacity: 0.5',
    'height:0',
    'height:40px;overflow:hidden',
    'left:-10px',
    'margin-left:-500px;left:50%',
    'margin-left:-100%',
    'transform:translate(-50%,-50%)',
    'transform:scale(1.1)',
    'clip-path:inset(10% 5%)',
    'clip:rect(0,100px,100px,0)',
    'color:transparent;-webkit-background-clip:text',
    'color:rgba(0,0,0,.8)',
    'font: 100 12px/1.5 serif',
    'content:";display:none;"',
    'filter:opacity(1)',
    'font-size: 0.9em',
    'left: -1px',
    'display: block',
    'margin-left:-10px',
    'opacity:1',
    '--display:none-x',
  ])('%s is seen', (style) => expect(isUnseen(style)).toBe(false))
})

describe('styles are read in linear time', () => {
  const piece = fc.constantFrom(...'\\ / * /* */ " \' ( ) url( { } ; : & a 6 \n'.split(' '), ' ', 'display:none', 'opacity:', '.a{')
  const texts = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(''))

  test('each step goes on, and what comes out is no more than what went in', () => {
    fc.assert(
      fc.property(texts, (css) => {
        for (let at = 0; at < css.length; at++) expect(step(css, at)).toBeGreaterThan(at)
        const { declarations, blocks } = itemsOf(css)
        const parts = [...declarations, ...blocks.flatMap(({ prelude, body }) => [prelude, body])]
        expect(parts.join('').length).toBeLessThanOrEqual(css.length)
        expect(withoutComments(css).length).toBeLessThanOrEqual(css.length)
        expect(isUnseen(css)).toBeTypeOf('boolean')
        expect(hidingSelectors(css).every((one) => one.length <= 1000)).toBe(true)
      }),
    )
  })

  // With a backtracking pattern these take minutes.
  test.each(['opacity:', 'font-size : ', 'clip:rect(', 'transform:', 'color:rgb(', 'font:'])('%s and what never ends', (begin) => {
    for (const filler of [' ', '0', '0 ', '/*', '\\', '(', 'a', ';', '\t\n', '-1', '{', '"', "url('"])
      expect(isUnseen(`${begin}${filler.repeat(100_000)}x`)).toBeTypeOf('boolean')
  })
})

describe('characters that show nothing', () => {
  test.each([
    ['tags', 'a\u{e0041}b', 'ab'],
    ['variation selectors of the second set', 'ok\u{e0145}\u{e0156}', 'ok'],
    ['runs of the first', '\u2764\ufe0f\ufe01\ufe02', '\u2764\ufe0f'],
    ['zero-width spaces', 'a\u200b\u2060\ufeffb', 'ab'],
    ['joiners between Latin letters', 'a\u200cb\u200dc', 'abc'],
    ['runs of joiners', '\u0645\u06cc\u200c\u200d\u062e', '\u0645\u06cc\u062e'],
    ['runs around other such', '\u0645\u200c\u200b\u200c\u062e', '\u0645\u062e'],
    ['runs between emoji', '👩\u200d\u200d💻', '👩💻'],
  ])('%s are taken out', (_, text, left) => expect(withoutUnseen(text)).toBe(left))

  test.each(['می\u200cخواهم', 'क्\u200dष', '👩🏽\u200d💻', '❤️\u200d🔥', '👨\u200d👩\u200d👧', 'naïve – “x” 日本語'])('%s stays', (text) =>
    expect(withoutUnseen(text)).toBe(text))
})

describe('text in one pass', () => {
  test.each([
    ['<p>a<p>b<br>c', 'a\n\nb\nc'.replace('\n\n', '\n')],
    ['<ul><li>a</li><li>b</li></ul>', '- a\n\n- b'],
    ['a &lt; b &amp;&nbsp;c &#8364; &#x20ac; &unknown; &#0;', 'a < b & c € € &unknown; \ufffd'],
    ['<pre>  a\n    b</pre>', 'a\n    b'],
    ['1 < 2 and 3 > 2 <3', '1 < 2 and 3 > 2 <3'],
    ['<a title="x > y">z</a>', 'z'],
    ['<p title="unclosed>text', 'text'],
    ['<script>if (a < b) "</p>"</script>after', 'after'],
    ['<script>never closed', ''],
    ['<!-- never closed', ''],
    ['a<', 'a<'],
  ])('%j', (html, text) => expect(plainText(html)).toBe(text))

  test('never throws, and never gives back a script', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      '<!--',
      '-->',
      '"',
      "'",
      '=',
      'div',
      'p',
      'script',
      ' hidden',
      ' style=',
      'display:none',
      '&amp;',
      '&#',
      ' ',
      'x',
      '\n',
      '/',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(plainText(`${pieces.join('')}`)).toBeTypeOf('string')
        expect(plainText(`<script>EVIL ${pieces.join('').replaceAll('<', '')}</script>`)).not.toContain('EVIL')
      }),
      { numRuns: 1000 },
    )
  })
})

describe('JSON on lines', () => {
  test('is the same JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(JSON.parse(indentJson(text))).toEqual(JSON.parse(text))
      }),
    )
  })
  test('is what JSON.stringify makes of it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('-0') || !Object.is(value, -0))
        expect(indentJson(JSON.stringify(value)).replace(/\s+/g, '')).toBe(JSON.stringify(value, null, 2).replace(/\s+/g, ''))
      }),
    )
    expect(indentJson('{"a":[],"b":{},"c":[1,"{"]}')).toBe(JSON.stringify({ a: [], b: {}, c: [1, '{'] }, null, 2))
  })
  test('that would grow without bounds stays as it is', () => {
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000)
    const wide = `${'['.repeat(40)}${'1,'.repeat(500_000)}1${']'.repeat(40)}`
    expect([indentJson(deep) === deep, indentJson(wide) === wide]).toEqual([true, true])
  })
})

describe('hostile pages', () => {
  const go = (html: string, seconds?: number) =>
    render(html, { url: URL_OF_PAGE, format: 'markdown', signal: new AbortController().signal, ...(seconds !== undefined && { seconds }) })
  const NOTE = [expect.stringContaining('plain text')]

  test('a small one goes through the worker', async () => {
    expect(await go('<title>T</title><p>a <a href="/b">b</a></p>')).toEqual({ title: 'T', text: 'a [b](https://example.com/b)', notes: [] })
  })

  test('100,000 elements within each other', async () => {
    const html = `<title>T</title>${'<div>'.repeat(100_000)}deep<p hidden>SECRET</p>`
    expect(await go(html)).toEqual({ title: 'T', text: 'deep', notes: NOTE })
    expect([tooDeep(html), tooDeep('<p>x'.repeat(5000)), tooDeep('<div></div>'.repeat(5000))]).toEqual([true, false, false])
  })

  test('control: without the look at its depth the conversion itself breaks', () => {
    const html = `${'<b>'.repeat(4000)}deep`
    expect(() => readable(html, URL_OF_PAGE, 'markdown')).toThrow()
  })

  test('what takes too long is cut off', async () => {
    expect(await go('<p>a <b>b</b></p>'.repeat(100_000), 0.05)).toMatchObject({ notes: NOTE, text: expect.stringMatching(/^a b\n/) })
  })

  test('an attribute of 5 MB', async () => {
    expect((await go(`<p title="${'x'.repeat(5_000_000)}">hello</p>`)).text).toBe('hello')
  })

  test.each([
    ['<'.repeat(1_000_000), 1_000_000],
    ['<a '.repeat(1_000_000), 0],
    ['<a b="'.repeat(500_000), 0],
    ['<!--'.repeat(1_000_000), 0],
    ['<script>'.repeat(500_000), 0],
    ['<style>'.repeat(500_000), 0],
    ["<style a='".repeat(500_000), 0],
    ['\n '.repeat(2_000_000), 0],
    [`a${' '.repeat(3_000_000)}b`, 3],
  ])('one pass is enough for %.10s…', (html, length) => expect(plainText(html)).toHaveLength(length))

  /** Five megabytes of styles in elements nested too deeply for a tree. */
  const SLOW = `${'<div>'.repeat(1100)}${`<b style="opacity:${' '.repeat(3900)}x">`.repeat(1250)}text`

  test('a page too deep for a tree does not hold up the process', async () => {
    const stop = new AbortController()
    const running = render(SLOW, { url: URL_OF_PAGE, format: 'markdown', signal: stop.signal })
    // This fires before the page is done only if rendering happens outside this thread.
    setImmediate(() => stop.abort(new Error('stopped')))
    await expect(running).rejects.toThrow('stopped')
  })

  test('and ends', async () => expect((await go(SLOW)).text).toBe('text'))

  test('a stop ends it', async () => {
    const stop = new AbortController()
    const running = render('<p>a</p>'.repeat(200_000), { url: URL_OF_PAGE, format: 'markdown', signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(running).rejects.toThrow('stopped')
  })
})
