import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type OwnRun, parseInput, promptOf, shownPrompt } from './chat-input.ts'
import { boundedText, runInOwnShell } from './own-shell.ts'

describe('what was typed', () => {
  it.each([
    ['  ', { kind: 'nothing' }],
    ['!', { kind: 'nothing' }],
    ['hello\nthere', { kind: 'message', text: 'hello\nthere' }],
    ['//etc is a folder', { kind: 'message', text: '/etc is a folder' }],
    ['/Model  ollama/x  ', { kind: 'command', name: 'model', args: 'ollama/x' }],
    ['/', { kind: 'command', name: '', args: '' }],
    ['?', { kind: 'command', name: 'help', args: 'keys' }],
    ['? why', { kind: 'message', text: '? why' }],
    ['exit', { kind: 'command', name: 'quit', args: '' }],
    [':q', { kind: 'command', name: 'quit', args: '' }],
    ['exit codes', { kind: 'message', text: 'exit codes' }],
    ['# use tabs', { kind: 'message', text: 'Add this to AGENTS.md, and do nothing else: use tabs' }],
    ['# Plan\n\nOne.', { kind: 'message', text: '# Plan\n\nOne.' }],
    ['#12 is broken', { kind: 'message', text: '#12 is broken' }],
    ['! ls -l', { kind: 'shell', command: 'ls -l' }],
  ])('%j', (typed, said) => expect(parseInput(typed)).toEqual(said))
})

describe('what is sent of it', () => {
  const run = fc.record({
    command: fc.constantFrom('ls', 'echo "```"', 'a\nb'),
    ended: fc.constantFrom('exit code 0', 'stopped'),
    output: fc.constantFrom('', 'out', 'with ``` and ```` in it', '````text\nx\n````\n(exit code 0)'),
  }) satisfies fc.Arbitrary<OwnRun>

  it('is shown again as it was typed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('do it', 'two\n\nlines', '(in brackets)'),
        fc.array(run, { maxLength: 3 }),
        fc.subarray(['a.ts', 'b c.md']),
        (text, runs, paths) => {
          const { text: shown, notes } = shownPrompt(promptOf(text, runs, paths))
          expect(shown).toBe(text)
          expect(notes).toHaveLength(runs.length + (paths.length > 0 ? 1 : 0))
        },
      ),
    )
  })

  it('says what ran, how it ended and which paths there are', () => {
    expect(promptOf('Why?', [{ command: 'npm test', ended: 'exit code 1', output: 'no ```' }], ['a.ts'])).toBe(
      'I ran this in my own shell: npm test\n````text\nno ```\n````\n(exit code 1)\n\nWhy?\n\n(Paths named here that exist: a.ts)',
    )
  })
})

describe('the own shell', () => {
  const never = new AbortController().signal

  it('gives both streams, without escape sequences, and the last state of a progress bar', async () => {
    const command = String.raw`printf '10%%\r100%%\n\033[31mred\033[0m\n'; echo err >&2; exit 3`
    expect(await runInOwnShell(command, '/', never)).toEqual({
      command,
      ended: 'exit code 3',
      output: expect.stringMatching(/^100%\nred\nerr$|^err\n100%\nred$/),
    })
  })

  it('does not wait for what it leaves in the background, and stopping ends the whole tree', async () => {
    const { output } = await runInOwnShell('sleep 60 & echo $!', '/', never)
    process.kill(Number(output))
    const stop = new AbortController()
    const running = runInOwnShell('sleep 60 & echo $!; wait', '/', stop.signal)
    stop.abort()
    expect((await running).ended).toBe('stopped')
  })

  it('keeps the beginning and the end of what is endless', () => {
    const bounded = boundedText(10)
    for (let at = 0; at < 1000; at++) bounded.add('0123456789')
    expect(bounded.text()).toBe('0123456789\n… 9980 characters left out …\n0123456789')
  })
})
