import { describe, expect, it } from 'vitest'
import type { Busy, ChatState, Question } from './chat-types.ts'
import { createNotifier, type Notify } from './notify.ts'

const ASKS = '? bash (write) make'

function set(how: Notify = 'bell', env: Readonly<Record<string, string>> = {}) {
  const written: string[] = []
  let time = 1_000_000
  const notifier = createNotifier({ how, env, write: (text) => written.push(text), now: () => time })
  const look = (over: Partial<ChatState> = {}, lines: readonly string[] = [ASKS]): void =>
    notifier.look({ question: undefined, busy: undefined, isStopping: false, items: [{ kind: 'question', lines, gap: false }], ...over })
  return {
    ...{ notifier, written, look },
    turn: (): Busy => ({ with: 'turn', what: '', since: time }),
    pass: (seconds: number) => {
      time += seconds * 1000
    },
  }
}
const question = (): Question => ({ line: '  [y]es once: ' })

describe('calling the user back', () => {
  it('happens once for each question, if no key was pressed just now', () => {
    const { look, pass, notifier, written } = set()
    const first = question()
    notifier.input('x')
    look({ question: first })
    expect(written).toEqual([])
    look()
    pass(6)
    look({ question: first })
    look({ question: first })
    look({ question: question() })
    expect(written).toEqual(['\x07', '\x07'])
  })

  it('follows the focus where the terminal reports it', () => {
    const { look, notifier, pass, written } = set()
    notifier.start()
    notifier.input('\x1b[I')
    pass(60)
    look({ question: question() })
    expect(written).toEqual(['\x1b[?1004h'])
    look()
    notifier.input('a\x1b[O')
    look({ question: question() })
    notifier.stop()
    expect(written.slice(1)).toEqual(['\x07', '\x1b[?1004l'])
  })

  it.each([
    [29, false, 0],
    [30, false, 1],
    [90, true, 0],
  ])('happens at the end of a turn of %i s (stopped: %s)', (seconds, isStopping, times) => {
    const { look, pass, turn, written } = set()
    const busy = turn()
    look({ busy })
    pass(seconds)
    look({ busy, isStopping })
    look()
    look()
    expect(written).toHaveLength(times)
  })

  it('tells the desktop what waits, and nothing in it ends the sequence', () => {
    const { look, pass, written } = set('desktop')
    pass(10)
    look({ question: question() }, ['\x1b[33m?\x1b[39m bash rm; \x07\x1b]9;evil\x07\x1b\\ \u202eevil\n', 'x'.repeat(500)])
    expect(written).toHaveLength(1)
    expect(written[0]).toMatch(/^\x1b\]9;Mulligan: Waiting for your answer: \? bash rm[^\x00-\x1f;\\\u202e]*\x07$/)
    expect(written[0]?.length).toBeLessThan(160)
  })

  it.each([
    [{ VTE_VERSION: '7600' }, /^\x1b\]777;notify;Mulligan;Waiting/],
    [{ TERM: 'foot' }, /^\x1b\]777;/],
    [{ TERM: 'xterm-kitty' }, /^\x1b\]9;/],
    [{ TMUX: '/tmp/x' }, /^\x1bPtmux;\x1b\x1b\]9;[^\x1b]*\x07\x1b\\$/],
  ])('%j', (env, sequence) => {
    const { look, pass, written } = set('desktop', env)
    pass(10)
    look({ question: question() })
    expect(written[0]).toMatch(sequence)
  })

  it('does nothing if it is off', () => {
    const { look, pass, notifier, written } = set('off')
    notifier.start()
    pass(60)
    look({ question: question() })
    notifier.stop()
    expect(written).toEqual([])
  })
})
