/** Parses user input and builds the prompt: output of the user's own commands comes first, a note on mentioned files last. Pure. */
import { oneLine } from '@mulligan/host/light'
import { RESOURCES, type ResourceMention, resourceNote } from '../mentions.ts'

/** A command that the user ran in their own shell. */
export interface OwnRun {
  readonly command: string
  /** `exit code 1`, `stopped`. */
  readonly ended: string
  /** Output, limited in length and without escape sequences. */
  readonly output: string
}

export type ChatInput =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'message'; readonly text: string }
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'command'; readonly name: string; readonly args: string }

/** Words that quit elsewhere. */
const QUIT = /^(?:exit|quit|:q!?|:wq)$/i
/** A line to remember. A longer text that begins with a heading is a message. */
const REMEMBER = /^#[ \t]+(\S[^\n]*)$/

/**
 * Parses input: `/name args` is a command, `!command` runs in the shell, `//text` sends a message that starts with a slash, and `# text` is
 * for AGENTS.md.
 */
export function parseInput(typed: string): ChatInput {
  const text = typed.trim()
  if (text === '') return { kind: 'nothing' }
  if (text === '?') return { kind: 'command', name: 'help', args: 'keys' }
  if (QUIT.test(text)) return { kind: 'command', name: 'quit', args: '' }
  const remember = REMEMBER.exec(text)
  if (remember) return { kind: 'message', text: `Add this to AGENTS.md, and do nothing else: ${remember[1]}` }
  if (text.startsWith('//')) return { kind: 'message', text: text.slice(1) }
  const command = /^\/(\S*)\s*([\s\S]*)$/.exec(text)
  if (command) return { kind: 'command', name: (command[1] as string).toLowerCase(), args: (command[2] as string).trim() }
  if (text.startsWith('!')) return text === '!' ? { kind: 'nothing' } : { kind: 'shell', command: text.slice(1).trim() }
  return { kind: 'message', text }
}

const RAN = 'I ran this in my own shell:'
const MENTIONS = 'Paths named here that exist: '

export function promptOf(
  text: string,
  runs: readonly OwnRun[],
  mentioned: readonly string[],
  resources: readonly ResourceMention[] = [],
): string {
  const paths = mentioned.length === 0 ? '' : `(${MENTIONS}${mentioned.join(', ')})`
  return [...runs.map(recordOf), text, resourceNote(resources), paths].filter((part) => part !== '').join('\n\n')
}

function recordOf({ command, ended, output }: OwnRun): string {
  const longest = Math.max(2, ...[...output.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${RAN} ${command}\n${ticks}text\n${output === '' ? '(it printed nothing)' : output}\n${ticks}\n(${ended})`
}

const RECORD = new RegExp(`${RAN} ([^\\n]*(?:\\n(?!\`\`\`)[^\\n]*)*)\\n(\`{3,})text\\n[\\s\\S]*?\\n\\2\\n\\(([^\\n]*)\\)\\n\\n`, 'y')

/** Returns a prompt as shown to the user. Command output is replaced by a note that it was included. */
export function shownPrompt(prompt: string): { readonly text: string; readonly notes: readonly string[] } {
  const notes: string[] = []
  let at = 0
  for (;;) {
    RECORD.lastIndex = at
    const found = RECORD.exec(prompt)
    if (!found) break
    notes.push(`with the output of ${oneLine(found[1] as string, 80)}`)
    at = RECORD.lastIndex
  }
  let text = prompt.slice(at)
  for (const kind of [MENTIONS, RESOURCES]) {
    const note = text.lastIndexOf(`\n\n(${kind}`)
    if (note === -1 || !text.endsWith(')')) continue
    notes.push(`names ${oneLine(text.slice(note + kind.length + 3, -1), 200)}`)
    text = text.slice(0, note)
  }
  return { text, notes }
}
