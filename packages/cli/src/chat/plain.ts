/**
 * The chat as plain lines, for screen readers and simple terminals: nothing is drawn again, and the terminal itself edits the input. It
 * writes no escape sequences.
 */
import { createInterface } from 'node:readline'
import { oneLine, sanitize } from '@mulligan/host/light'
import { plain } from '../ui/colors.ts'
import { thoughtLine } from '../ui/events-to-lines.ts'
import type { Output } from '../ui/output.ts'
import { plural } from '../ui/text.ts'
import type { Chat, ChatState } from './chat-types.ts'
import { attend, type Ended } from './ending.ts'
import { markdownLines } from './markdown/lines.ts'
import { type Card, hasGap, type Item } from './view.ts'

const PROMPT = '> '

/** @returns how the chat ended */
export async function showPlain(chat: Chat, output: Output): Promise<Ended> {
  const attended = attend(chat, output, chat.interrupt)
  const input = createInterface({ input: process.stdin, terminal: false })
  let before: ChatState | undefined
  /** Prompt at the beginning of the current line, after which the user may be typing. */
  let prompt = ''
  /** Messages and answers that the terminal has shown while they were typed. */
  const typed: string[] = []
  /** A line that ends with a backslash goes on in the next one. */
  let begun = ''

  function print(lines: readonly string[]): void {
    if (lines.length === 0) return
    output.out(`${prompt === '' ? '' : '\n'}${lines.join('\n')}\n`)
    prompt = ''
  }

  function look(): void {
    const state = chat.state()
    const from = before?.items.length ?? 0
    // What begins comes after the message that begins it, and before what came of it.
    const said = state.items.findIndex(({ kind }, at) => at >= from && kind !== 'user')
    const middle = said === -1 ? state.items.length : said
    print([...itemLines(state, from, middle), ...newsOf(before, state, chat.subject), ...itemLines(state, middle)])
    if (state.panel) {
      print(['This is not available in plain lines.'])
      state.panel.key({ name: 'escape' })
    }
    before = state
    const next = state.question ? state.question.line.trimStart() : state.busy ? '' : PROMPT
    if (next === prompt || state.panel) return
    output.out(`${prompt === '' ? '' : '\n'}${next}`)
    prompt = next
  }

  function itemLines({ items }: ChatState, from: number, to = items.length): readonly string[] {
    return items.slice(from, to).flatMap((item, at) => {
      if (typed[0] !== undefined && typed[0] === typedIn(item)) {
        typed.shift()
        return []
      }
      const gap = from + at > 0 && hasGap(items[from + at - 1], item)
      return [...(gap ? [''] : []), ...linesOf(item)]
    })
  }

  input.on('line', (line) => {
    // The terminal has shown the end of the line.
    prompt = ''
    if (line.endsWith('\\')) {
      begun += `${line.slice(0, -1)}\n`
      return
    }
    const text = begun + line
    begun = ''
    const { question } = chat.state()
    if (question) {
      typed.push(question.line + sanitize(text))
      chat.answer(text)
    } else if (text.trim() === '') look()
    else {
      typed.push(sanitize(text.trim()))
      chat.submit(text)
    }
  })
  input.on('close', chat.leave)
  const unsubscribe = chat.subscribe(look)
  look()
  try {
    return { ...(await chat.left), isEnded: attended.isEnded() }
  } finally {
    unsubscribe()
    look()
    input.off('close', chat.leave)
    input.close()
    attended.stop()
    if (prompt !== '') output.out('\n')
  }
}

/** Returns what of an item somebody has typed. */
function typedIn(item: Item): string | undefined {
  if (item.kind === 'user') return item.text
  return item.kind === 'question' && item.lines.length === 1 ? item.lines[0] : undefined
}

/** Returns a line for each thing that has begun. */
function newsOf(before: ChatState | undefined, now: ChatState, subject: Chat['subject']): readonly string[] {
  const known = new Set(before?.view.calls.flatMap(({ id, startedAt }) => (startedAt === undefined ? [] : [id])))
  const started = now.view.calls.filter(({ id, startedAt }) => startedAt !== undefined && !known.has(id))
  const more = (what: 'steering' | 'queued'): readonly string[] =>
    now.waiting[what].slice(before?.waiting[what].length ?? 0).map((text) => `${what}: ${oneLine(text, 200)}`)
  return [
    ...(now.busy?.with === 'turn' && before?.busy === undefined ? ['Working. Ctrl-C stops.'] : []),
    ...started.map(({ tool, input }) => `running ${oneLine(tool, 64)} ${oneLine(subject(tool, input), 100)}`.trimEnd()),
    ...more('steering'),
    ...more('queued'),
    ...(now.isStopping && before?.isStopping !== true ? ['Stopping. Ctrl-C again quits at once.'] : []),
    ...(now.isLeavingNext && before?.isLeavingNext !== true ? ['Ctrl-C again, /quit or Ctrl-D quits.'] : []),
  ]
}

function linesOf(item: Item): readonly string[] {
  switch (item.kind) {
    case 'user':
      return [`You: ${item.text}`, ...(item.notes ?? [])]
    case 'answer':
      return markdownLines(item.text, { columns: Infinity, colors: plain, isPlain: true })
    case 'thinking':
      return [thoughtLine(item.characters, plain)]
    case 'call':
      return cardLines(item.card)
    case 'rows':
      return item.rows.map(([what, says]) => (what === '' ? says : `${what}: ${says}`))
    default:
      return item.lines
  }
}

const MARKS: Readonly<Record<string, string>> = { '✓': 'ok', '●': 'retry', '✗': 'failed', '?': 'unknown' }

/** What a call only read is not shown, as it can be long. */
function cardLines({ mark, head, repairs, display, earlier, more, isRead }: Card): readonly string[] {
  const isShown = display !== '' && !isRead
  return [
    `${MARKS[mark] ?? mark} ${head}`,
    ...repairs,
    ...(isShown && earlier > 0 ? [`… ${plural(earlier, 'earlier line')}`] : []),
    ...(isShown ? markdownLines(display, { columns: Infinity, colors: plain, isPlain: true }) : []),
    ...(isShown && more > 0 ? [`… ${plural(more, 'more line')}`] : []),
  ]
}
