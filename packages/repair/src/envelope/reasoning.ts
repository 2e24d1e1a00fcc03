/** Finds the start and end of reasoning that a server left in the text. */

/** Tags that people write about too: they begin reasoning only where a text begins. */
const WORDS = ['think', 'thinking', 'reasoning', 'seed:think', 'thought']

/** Opening and closing tags, by model family. A lone closing tag ends reasoning that began with the reply. */
const TAGS: readonly (readonly [open: string, close: string])[] = [
  ...WORDS.map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[THINK]', '[/THINK]'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|inner_prefix|>', '<|inner_suffix|>'],
  ['<|channel>thought', '<channel|>'],
  ['◁think▷', '◁/think▷'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
  ['<unused94>thought', '<unused95>'],
  ['<|open|>think<|sep|>', '<|close|>think<|sep|>'],
  ['<|think:start|>', '<|think:end|>'],
  ['<|plamo:begin_think:plamo|>', '<|plamo:end_think:plamo|>'],
]

/** Tags that only act as separators; they are removed from the text. */
const SEPARATORS = [
  '[END FINAL RESPONSE]',
  '<|start|>assistant<|channel|>final<|message|>',
  '<|channel|>final<|message|>',
  '<|START_RESPONSE|>',
  '<|END_RESPONSE|>',
  '<|open|>response<|sep|>',
  '<|close|>response<|sep|>',
  '<|close|>message<|sep|>',
]
/** Closing tags that have no opening one. */
const CLOSERS = ['[BEGIN FINAL RESPONSE]']

export type Mark =
  | { readonly kind: 'open'; readonly text: string; readonly close: string; readonly isWord: boolean }
  | { readonly kind: 'close'; readonly text: string }
  | { readonly kind: 'separator'; readonly text: string }

export const MARKS: readonly Mark[] = [
  ...TAGS.map(([text, close]): Mark => ({ kind: 'open', text, close, isWord: WORDS.includes(text.slice(1, -1)) })),
  ...[...TAGS.map(([, close]) => close).filter((close) => close !== '<|end|>'), ...CLOSERS].map((text): Mark => ({ kind: 'close', text })),
  ...SEPARATORS.map((text): Mark => ({ kind: 'separator', text })),
]
