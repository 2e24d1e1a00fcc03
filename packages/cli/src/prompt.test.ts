import { describe, expect, it } from 'vitest'
import { type PromptSource, readPrompt } from './prompt.ts'

const terminal: PromptSource = {
  isTerminal: true,
  read: async () => 'typed',
  readIfAny: () => Promise.reject(new Error('a terminal is not read besides a prompt')),
}
const piped = (text: string | undefined): PromptSource => ({ isTerminal: false, read: async () => text ?? '', readIfAny: async () => text })

describe('readPrompt', () => {
  it.each([
    ['the argument', 'Why?', false, terminal, { text: 'Why?' }],
    ['- in a terminal is typed', '-', false, terminal, { text: 'typed' }],
    ['stdin', undefined, false, piped('Why?\n'), { text: 'Why?' }],
    ['both', 'Why?', false, piped('log\n'), { text: 'Why?\n\nlog' }],
    ['nothing piped', 'Why?', false, piped(''), { text: 'Why?' }],
    [
      'stdin open without a byte',
      'Why?',
      false,
      piped(undefined),
      { text: 'Why?', warning: expect.stringContaining('Nothing arrived on stdin') },
    ],
    ['to resume', undefined, true, terminal, { text: '' }],
    ['to resume, nothing piped', undefined, true, piped(''), { text: '' }],
    ['to continue what is piped', undefined, true, piped('And?'), { text: 'And?' }],
  ])('%s', async (_, given, resumes, source, prompt) => expect(await readPrompt(given, resumes, source)).toEqual(prompt))

  it.each([
    ['none in a terminal', undefined, false, terminal, /there is no prompt/],
    ['an empty one', ' ', false, terminal, /the prompt is empty/],
    ['nothing on stdin', undefined, false, piped('\n'), /on stdin is empty/],
    ['binary data besides a prompt', 'Why?', false, piped('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), /piped in is not text/],
    ['binary data as the prompt', undefined, false, piped('\ufffd\x1f\x03'.repeat(50)), /piped in is not text/],
    ['- with nothing on stdin', '-', true, piped(''), /on stdin is empty/],
  ])('refuses %s', async (_, given, resumes, source, says) => {
    await expect(readPrompt(given, resumes, source)).rejects.toThrow(says)
  })
})
