/**
 * Translates the input that Ink's `useInput` reports into editor keys. Ink joins split sequences and extracts pastes; other input may be
 * text with control characters, such as a word followed by Enter.
 */
import type { Key } from 'ink'

interface KeyRow {
  readonly name: string
  readonly keys: readonly string[]
  readonly does: string
}

/** All keys and what they do, in the order of the documentation. Keys with Ctrl and Alt are looked up here. */
export const KEY_TABLE = [
  { name: 'enter', keys: ['Enter', 'Ctrl-M'], does: 'send; in the menu, accept the selection' },
  { name: 'newline', keys: ['Alt-Enter', 'Shift-Enter', 'Ctrl-J', '\\ Enter'], does: 'a new line' },
  { name: 'tab', keys: ['Tab', 'Ctrl-I'], does: 'complete a command, a value or a file' },
  { name: 'backtab', keys: ['Shift-Tab'], does: 'previous menu item; without a menu, the next mode' },
  { name: 'escape', keys: ['Escape'], does: 'close the menu; twice, clear the text or, without one, begin /rewind' },
  { name: 'interrupt', keys: ['Ctrl-C'], does: 'clear the text; if empty, interrupt' },
  { name: 'delete-or-exit', keys: ['Ctrl-D'], does: 'delete forward; if empty, quit' },
  { name: 'up', keys: ['Up', 'Ctrl-P'], does: 'previous line; from the first line, previous message' },
  { name: 'down', keys: ['Down', 'Ctrl-N'], does: 'next line; from the last line, next message' },
  { name: 'search', keys: ['Ctrl-R'], does: 'search earlier messages; press again for the next older match' },
  { name: 'editor', keys: ['Ctrl-G'], does: 'edit the text in your own editor; in the search, keep the original text' },
  { name: 'chord', keys: ['Ctrl-X'], does: 'before Ctrl-E: edit the text in your own editor' },
  { name: 'left', keys: ['Left', 'Ctrl-B'], does: 'a character back' },
  { name: 'right', keys: ['Right', 'Ctrl-F'], does: 'a character on' },
  { name: 'word-left', keys: ['Alt-B', 'Alt-Left', 'Ctrl-Left'], does: 'a word back' },
  { name: 'word-right', keys: ['Alt-F', 'Alt-Right', 'Ctrl-Right'], does: 'a word on' },
  { name: 'line-start', keys: ['Ctrl-A', 'Home'], does: 'the start of the line' },
  { name: 'line-end', keys: ['Ctrl-E', 'End'], does: 'the end of the line' },
  { name: 'backspace', keys: ['Backspace', 'Ctrl-H'], does: 'delete back' },
  { name: 'delete', keys: ['Delete'], does: 'delete forward' },
  { name: 'kill-line', keys: ['Ctrl-K'], does: 'cut to the end of the line' },
  { name: 'kill-line-left', keys: ['Ctrl-U'], does: 'cut to the start of the line' },
  { name: 'kill-blank-left', keys: ['Ctrl-W'], does: 'cut back to the previous space' },
  { name: 'kill-word-left', keys: ['Alt-Backspace', 'Ctrl-Backspace'], does: 'cut a word back' },
  { name: 'kill-word', keys: ['Alt-D', 'Alt-Delete', 'Ctrl-Delete'], does: 'cut a word on' },
  { name: 'yank', keys: ['Ctrl-Y'], does: 'paste the last cut text' },
  { name: 'yank-pop', keys: ['Alt-Y'], does: 'after Ctrl-Y, paste the cut before that' },
  { name: 'undo', keys: ['Ctrl-_'], does: 'undo' },
  { name: 'image', keys: ['Ctrl-V'], does: 'attach the image in the clipboard' },
  { name: 'expand', keys: ['Ctrl-O'], does: 'show a call in full' },
  { name: 'clear', keys: ['Ctrl-L'], does: 'clear the screen' },
  { name: 'suspend', keys: ['Ctrl-Z'], does: 'suspend the chat' },
] as const satisfies readonly KeyRow[]

export type KeyName = (typeof KEY_TABLE)[number]['name']
export type EditorKey = { readonly name: 'text' | 'paste'; readonly text: string } | { readonly name: KeyName }

/** Returns the keys of the table that combine a character with Ctrl or Alt. */
const withCharacter = (modifier: string): Readonly<Record<string, KeyName>> =>
  Object.fromEntries(
    KEY_TABLE.flatMap(({ name, keys }) =>
      keys.flatMap((one) => (one.slice(0, -1) === modifier ? [[one.slice(-1).toLowerCase(), name]] : [])),
    ),
  )

/** Keys with Ctrl. Some terminals report Ctrl-- and Ctrl-/ as such; others send Ctrl-_ for both. */
const CTRL: Readonly<Record<string, KeyName>> = { ...withCharacter('Ctrl-'), '-': 'undo', '/': 'undo' }
const ALT = withCharacter('Alt-')

/** Translates input into keys. Returns none for a key without a meaning here. */
export function toKeys(input: string, ink: Key): readonly EditorKey[] {
  const named = nameOf(input, ink)
  if (ink.eventType === 'release' || named === 'nothing') return []
  if (named) return [{ name: named }]
  if (ink.escape) return [{ name: 'escape' }, { name: 'escape' }]
  return fromText(input)
}

function nameOf(input: string, ink: Key): KeyName | 'nothing' | undefined {
  const word = ink.meta || ink.ctrl
  if (ink.super || ink.hyper) return 'nothing'
  // Ink reports two Escapes received together as one with Alt.
  if (ink.escape) return ink.meta ? undefined : 'escape'
  if (ink.return) return word || ink.shift ? 'newline' : 'enter'
  if (ink.tab) return ink.shift ? 'backtab' : 'tab'
  if (ink.backspace) return word ? 'kill-word-left' : 'backspace'
  if (ink.delete) return word ? 'kill-word' : 'delete'
  if (ink.leftArrow) return word ? 'word-left' : 'left'
  if (ink.rightArrow) return word ? 'word-right' : 'right'
  if (ink.upArrow) return 'up'
  if (ink.downArrow) return 'down'
  if (ink.home) return 'line-start'
  if (ink.end) return 'line-end'
  if (ink.pageUp || ink.pageDown || input === '') return 'nothing'
  if (ink.ctrl) return CTRL[input.toLowerCase()] ?? 'nothing'
  if (ink.meta) return ALT[input.toLowerCase()] ?? 'nothing'
  return undefined
}

/**
 * Parses raw text. A line end followed by text is a paste by a terminal that does not mark pastes, so it does not submit; a trailing line
 * end is Enter.
 * @param text the received text, without escape sequences
 */
function fromText(text: string): readonly EditorKey[] {
  if (/[\r\n][\s\S]*[^\x00-\x1f\x7f]/.test(text)) return [{ name: 'paste', text }]
  return (text.match(/[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/g) ?? []).flatMap((piece): EditorKey[] => {
    const code = piece.charCodeAt(0)
    if (code > 0x1f && code !== 0x7f) return [{ name: 'text', text: piece }]
    const name = code === 0x7f ? 'backspace' : CTRL[String.fromCharCode(code + 0x60)]
    return name ? [{ name }] : []
  })
}
