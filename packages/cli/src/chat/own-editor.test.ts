/** Tests the user's own editor with real programs, and in a real terminal. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { BIN, NO_SERVERS, place, trusted, using } from '../../test/cli.fixture.ts'
import { hasScreen, openScreen } from '../../test/screen.fixture.ts'
import { editInOwnEditor } from './own-editor.ts'

const idle = new AbortController().signal
const edit = (editor: string | undefined, text = 'draft', more: Record<string, string> = {}, signal = idle) =>
  editInOwnEditor(text, { ...process.env, VISUAL: '', EDITOR: editor, ...more }, signal)

describe("the user's own editor", () => {
  it('gets the text in a file of its own, which is gone afterwards', async () => {
    using here = place()
    const seen = join(here.dir, 'seen')
    const script = `f() { ls -l "$1" | cut -c1-10 > ${seen}; printf %s "$1" > ${seen}.path; cat "$1" >> ${seen}; printf 'new\\ntext\\n' > "$1"; }; f`
    expect(await edit(script, "it's\na draft")).toBe('new\ntext')
    expect(readFileSync(seen, 'utf8')).toBe("-rw-------\nit's\na draft")
    expect(existsSync(readFileSync(`${seen}.path`, 'utf8'))).toBe(false)
    expect(existsSync(dirname(readFileSync(`${seen}.path`, 'utf8')))).toBe(false)
  })

  it('is VISUAL before EDITOR, with its arguments', async () => {
    expect(await edit('false', 'draft', { VISUAL: 'sh -c \'printf visual > "$1"\' sh' })).toBe('visual')
  })

  it.each([
    [undefined, /no editor is set/],
    ['  ', /no editor is set/],
    ['/nowhere/editor --wait', /the editor failed \(not found\)/],
    ['exit 3;', /the editor failed \(exit code 3\)/],
    ['f() { rm "$1"; head -c 2000000 /dev/zero > "$1"; }; f', /longer than 1 MB/],
  ])('that is missing or fails leaves the text as it was: %s', async (editor, message) => {
    await expect(edit(editor)).rejects.toThrow(message)
  })

  it('is ended with the chat', async () => {
    const stop = new AbortController()
    const edited = edit('exec sleep 600 #', 'draft', {}, stop.signal)
    stop.abort()
    await expect(edited).rejects.toThrow('ended by SIGTERM')
  })
})

// In CI, these tests fail if tmux is missing.
describe.skipIf(!hasScreen)('in a terminal', () => {
  it('has the terminal while a turn runs, and the chat gets it back', async () => {
    using here = trusted(place({ 'edit.sh': 'cat "$1"; echo; echo asks; read -r line; echo "$line" > keys; echo "$line again" > "$1"\n' }))
    await using model = await scriptedModel((request) =>
      JSON.stringify(request.body).includes('hello again') ? say('Got it.') : say('I begin, and', { fault: { hang: 'mid-text' } }),
    )
    const env = { HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS, EDITOR: 'sh edit.sh' }
    await using screen = await openScreen([process.execPath, BIN, ...using(model)], { cwd: here.dir, env })
    await screen.ready('on this machine · mode')
    await screen.type('begin')
    await screen.keys('Enter')
    await screen.until('I begi')
    await screen.type('draft')
    await screen.keys('C-x', 'C-e')
    await screen.until(/draft\s+asks/)
    await screen.type('hello')
    await screen.keys('Enter')
    await screen.until('> hello again')
    expect(here.read('keys')).toBe('hello\n')
    await screen.keys('C-u', 'Escape')
    await screen.until(/Cancelled|stopped/)
    await screen.type('kept')
    await screen.keys('C-g')
    await screen.until(/kept\s+asks/)
    // Ctrl-C ends this editor, and is no Ctrl-C of the chat.
    await screen.keys('C-c')
    await screen.until(/the editor failed[\s\S]*> kept/)
    await screen.keys('C-u')
    await screen.type('hello again')
    await screen.keys('Enter')
    await screen.until('Got it.')
  })
})
