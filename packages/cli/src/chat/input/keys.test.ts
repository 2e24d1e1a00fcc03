import fc from 'fast-check'
import { render, useInput } from 'ink'
import { createElement } from 'react'
import { describe, expect, test, vi } from 'vitest'
import type { Completions } from './completion.ts'
import { memoryHistory } from './history.ts'
import { type EditorKey, KEY_TABLE, toKeys } from './keys.ts'
import { Prompt } from './prompt.tsx'
import { terminal } from './terminal.fixture.ts'

/** Returns what the prompt reports when it receives these pieces. */
async function told(...pieces: readonly string[]): Promise<string[]> {
  const { stdin, stdout, give } = terminal(40)
  const said: string[] = []
  const tell = (what: string) => () => void said.push(what)
  const app = render(
    createElement(Prompt, {
      ...{ isActive: true, history: memoryHistory(['before']), complete: async () => undefined },
      ...{
        onInterrupt: tell('interrupt'),
        onExit: tell('exit'),
        onClear: tell('clear'),
        onSubmit: (text: string) => void said.push(`sent ${text}`),
      },
    }),
    { stdin, stdout, exitOnCtrlC: false, interactive: true, patchConsole: false },
  )
  await app.waitUntilRenderFlush()
  expect(stdin.listenerCount('readable')).toBe(1)
  give(...pieces)
  app.unmount()
  return said
}

/** Returns the editor keys for these bytes. */
async function keysOf(bytes: string): Promise<EditorKey[]> {
  const { stdin, stdout, give } = terminal(40)
  const keys: EditorKey[] = []
  const Probe = (): null => {
    useInput((input, key) => void keys.push(...toKeys(input, key)))
    return null
  }
  const app = render(createElement(Probe), { stdin, stdout, exitOnCtrlC: false, interactive: true, patchConsole: false })
  await app.waitUntilRenderFlush()
  give(bytes)
  app.unmount()
  return keys
}

/** Returns what is submitted after typing `abc def`, these bytes, then `X` and Enter. */
const edit = async (bytes: string): Promise<string | undefined> => (await told('abc def', bytes, 'X', '\r'))[0]?.replace('sent ', '')

describe('completions beside the keys', () => {
  test('the next key stops the search; a late answer changes nothing; what is completed is told', async () => {
    const { stdin, stdout, give } = terminal(40)
    const asked: { readonly text: string; readonly signal: AbortSignal; readonly answer: (found: Completions | undefined) => void }[] = []
    const texts: string[] = []
    const app = render(
      createElement(Prompt, {
        ...{ isActive: true, history: memoryHistory(), onInterrupt: () => undefined, onExit: () => undefined },
        complete: (text, _, signal) => new Promise((answer) => asked.push({ text, signal, answer })),
        onSubmit: (text) => void texts.push(`sent ${text}`),
        onChange: (text) => void texts.push(text),
      }),
      { stdin, stdout, exitOnCtrlC: false, interactive: true, patchConsole: false },
    )
    await app.waitUntilRenderFlush()
    give('@', 'a')
    expect(asked.map(({ text, signal }) => [text, signal.aborted])).toEqual([
      ['@', true],
      ['@a', false],
    ])
    const item = { insert: '@a.ts ', label: 'a.ts' }
    asked[0]?.answer({ from: 0, to: 1, items: [{ insert: '@late ', label: 'late' }] })
    give('\t')
    asked[2]?.answer({ from: 0, to: 2, items: [item] })
    await vi.waitFor(() => expect(texts).toContain('@a.ts '))
    give('\r')
    app.unmount()
    expect(texts).toEqual(['@', '@a', '@a.ts ', 'sent @a.ts', ''])
    expect(asked.every(({ signal }) => signal.aborted)).toBe(true)
  })
})

describe('bytes of a terminal', () => {
  test('each key of the table', async () => {
    const named: Readonly<Record<string, string>> = {
      ...{
        Enter: '\r',
        'Alt-Enter': '\x1b\r',
        'Shift-Enter': '\x1b[13;2u',
        '\\ Enter': '\\\r',
        Tab: '\t',
        'Shift-Tab': '\x1b[Z',
        Escape: '\x1b[27u',
      },
      ...{
        Up: '\x1b[A',
        Down: '\x1b[B',
        Right: '\x1b[C',
        Left: '\x1b[D',
        Home: '\x1b[H',
        End: '\x1b[F',
        Delete: '\x1b[3~',
        Backspace: '\x7f',
      },
      ...{ 'Alt-Left': '\x1b[1;3D', 'Ctrl-Left': '\x1b[1;5D', 'Alt-Right': '\x1b[1;3C', 'Ctrl-Right': '\x1b[1;5C' },
      ...{ 'Alt-Backspace': '\x1b\x7f', 'Ctrl-Backspace': '\x1b[127;5u', 'Alt-Delete': '\x1b[3;3~', 'Ctrl-Delete': '\x1b[3;5~' },
    }
    const bytesOf = (label: string): string =>
      named[label] ??
      label
        .replace(/^Alt-(.)$/, (_, char: string) => `\x1b${char.toLowerCase()}`)
        .replace(/^Ctrl-(.)$/, (_, char: string) => String.fromCharCode(char.charCodeAt(0) & 0x1f))
    for (const { name, keys } of KEY_TABLE)
      for (const label of keys) {
        const pressed = await keysOf(bytesOf(label))
        expect([label, pressed]).toEqual([label, label === '\\ Enter' ? [{ name: 'text', text: '\\' }, { name: 'enter' }] : [{ name }]])
      }
  })

  test('as keys', async () => {
    const cases: Readonly<Record<string, readonly string[]>> = {
      'abc deXf': ['\x1b[D', '\x1bOD', '\x02', '\x1b[1D'],
      'abc Xdef': ['\x1bb', '\x1b[1;3D', '\x1b[1;5D', '\x1bB'],
      'Xabc def': ['\x01', '\x1b[H', '\x1bOH', '\x1b[1~', '\x1b[7~'],
      'abc defX': [
        '\x05',
        '\x1b[F',
        '\x1b[4~',
        '\x1b[3~',
        '\x1b[15~',
        '\x1b[2~',
        '\x1b[5~',
        '\x1b[I',
        '\x1b[12;40R',
        '\x1b[200;1:3u',
        '\x00',
        '\x1bz',
        '\x14',
      ],
      'abc deX': ['\x7f', '\b', '\x1b[127u', '\x1b[104;5u'],
      'abc X': ['\x17', '\x1b\x7f', '\x1b[127;3u', '\x1b[127;5u', '\x1b\b'],
      'abc def\nX': ['\x1b\r', '\n', '\x1b[13;2u', '\x1b[13;3u', '\x1b[13;5u', '\x1b[106;5u', '\\\r'],
      X: ['\x1f', '\x1b[45;5u', '\x1b[95;5u', '\x15', '\x03', '\x1b\x1b', '\x01\x0b', '\x1b[99;5u', '\x1b[27u\x1b[27u'],
      'abc defabc defX': ['\x15\x19\x19'],
      'abc defdefX': ['\x17\x19\x19'],
      beforeX: ['\x10', '\x1b[A', '\x1bOA', '\x12for\x05'],
    }
    for (const [text, all] of Object.entries(cases)) for (const bytes of all) expect([bytes, await edit(bytes)]).toEqual([bytes, text])
  })

  test('Ctrl-C, Ctrl-D and Ctrl-L with nothing typed', async () => {
    expect(await told('\x03', '\x04', '\x0c', '\r')).toEqual(['interrupt', 'exit', 'clear'])
    expect(await told('abc\x03\x03')).toEqual(['interrupt'])
  })

  test('a paste sends nothing, marked or not', async () => {
    expect(await told('\x1b[200~one\rtwo\x03\x1b[A\r\x1b[201~')).toEqual([])
    expect(await told('\x1b[200~one\rtwo\x03\x1b[A\r\x1b[201~', '!', '\r')).toEqual(['sent one\ntwo\x03\x1b[A\n!'])
    expect(await told('one\rtwo\r')).toEqual([])
    expect(await told('one\rtwo\r', '\r')).toEqual(['sent one\ntwo'])
    expect(await told('typed with its enter\r')).toEqual(['sent typed with its enter'])
  })

  test('wherever the bytes are cut', async () => {
    const bytes = 'a日👍\x1b[D\x1b[1;5D\x1bb\x1b[200~p\rq\x1b[201~\x05e\u0301\x1b[13;2uz\x1b[H!\r'
    const whole = await told(bytes)
    expect(whole).toHaveLength(1)
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: Array.from(bytes).length - 1 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const chars = Array.from(bytes)
        const ends = [0, ...at.sort((a, b) => a - b), chars.length]
        const pieces = ends.slice(1).map((end, index) => chars.slice(ends[index], end).join(''))
        expect(await told(...pieces)).toEqual(whole)
      }),
      { numRuns: 40 },
    )
  })
})
