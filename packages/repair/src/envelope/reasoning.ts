/** Thinking that a server left in the text: where it opens and where it ends. */

/** Opening and closing tags, by family of models. A closing tag alone ends a reasoning that began with the reply. */
const TAGS: readonly (readonly [open: string, close: string])[] = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<reasoning>', '</reasoning>'],
  ['<seed:think>', '</seed:think>'],
  ['<thought>', '</thought>'],
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

/** Tags that only separate: they are taken out of the text. */
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
  | { readonly kind: 'open'; readonly text: string; readonly close: string }
  | { readonly kind: 'close'; readonly text: string }
  | { readonly kind: 'separator'; readonly text: string }

export const MARKS: readonly Mark[] = [
  ...TAGS.map(([text, close]): Mark => ({ kind: 'open', text, close })),
  ...[...TAGS.map(([, close]) => close).filter((close) => close !== '<|end|>'), ...CLOSERS].map((text): Mark => ({ kind: 'close', text })),
  ...SEPARATORS.map((text): Mark => ({ kind: 'separator', text })),
]
