import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fixture, run } from '../../workspace.fixture.ts'
import { notebookText } from './notebook.ts'

const NOTEBOOK = {
  nbformat: 4,
  cells: [
    { cell_type: 'markdown', source: ['# Title\n', 'Text'] },
    {
      cell_type: 'code',
      execution_count: 7,
      source: 'import os\nos.getcwd()\n',
      outputs: [
        { output_type: 'stream', name: 'stdout', text: ['one\n', 'two\n'] },
        { output_type: 'stream', name: 'stderr', text: 'careful\n' },
        { output_type: 'execute_result', data: { 'text/plain': "'/x'", 'text/html': '<b>x</b>' } },
        { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgoAAAANSUhEUg', 'text/plain': ['<Figure>'] } },
        { output_type: 'error', ename: 'E', evalue: 'bad', traceback: ['\u001b[31mTraceback\u001b[0m', 'E: bad'] },
      ],
    },
    { cell_type: 'code', source: [], outputs: [] },
  ],
}

const SHOWN = `[cell 1: markdown]
# Title
Text

[cell 2: code, run 7]
import os
os.getcwd()
[output]
one
two
[stderr]
careful
[output]
'/x'
[output]
<Figure>
[output: image/png, not shown]
[error]
Traceback
E: bad

[cell 3: code]`

describe('a notebook', () => {
  test('is its cells, with what they are and what they printed', () => expect(notebookText(JSON.stringify(NOTEBOOK))).toBe(SHOWN))

  test('is read in pages of lines', async () => {
    const { tool } = fixture({ 'a.ipynb': JSON.stringify(NOTEBOOK) })
    const { content, data } = await run(tool('read_file'), { path: 'a.ipynb', offset: 4, limit: 2 })
    expect(content).toBe('     5\t[cell 2: code, run 7]\n     6\timport os\n(a.ipynb: lines 5-6 of 22 lines) more: offset=6')
    expect(data).toMatchObject({ mediaType: 'application/x-ipynb+json', totalLines: 22 })
    expect((await run(tool('read_file'), { path: 'a.ipynb', offset: -1 })).content).toBe('    22\t[cell 3: code]')
  })

  test('counts as read, so that it can be replaced', async () => {
    const { tool } = fixture({ 'a.ipynb': JSON.stringify(NOTEBOOK) })
    await run(tool('read_file'), { path: 'a.ipynb' })
    await run(tool('write_file'), { path: 'a.ipynb', content: '{"cells":[]}', overwrite: true })
    expect(await run(tool('read_file'), { path: 'a.ipynb' })).toMatchObject({ count: 0 })
  })

  test('long outputs are cut', () => {
    const text = Array.from({ length: 100 }, (_, at) => `row ${at}\n`)
    const shown = notebookText(JSON.stringify({ cells: [{ cell_type: 'code', source: '', outputs: [{ output_type: 'stream', text }] }] }))
    expect(shown).toContain('row 39\n… [60 more lines]')
  })

  test.each([
    ['broken JSON', '{"cells": [\n{"cell_type": "code"'],
    ['no cells', '{"a": 1}'],
    ['something else', '[1, 2]'],
  ])('%s is read as the text it is, with a note', async (_, text) => {
    const { tool } = fixture({ 'a.ipynb': text })
    const { content, notes } = await run(tool('read_file'), { path: 'a.ipynb' })
    expect(content).toContain(text.split('\n')[0])
    expect(notes?.[0]).toContain('Not a notebook')
  })

  test('whatever JSON it holds, it is text or no notebook', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(typeof notebookText(json)).toMatch(/string|undefined/)
      }),
    )
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (cells) => {
        expect(typeof notebookText(JSON.stringify({ cells }))).toBe('string')
      }),
    )
  })
})
