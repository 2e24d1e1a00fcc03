import type { LanguageModelV4FilePart, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { expect, it } from 'vitest'
import { hasImages } from './images.ts'

const image: LanguageModelV4FilePart = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }

it('finds the images of a prompt that has grown since it was looked at', () => {
  const prompt: LanguageModelV4Prompt = [{ role: 'system', content: 'You are an agent.' }]
  expect(hasImages(prompt)).toBe(false)
  const content: Extract<LanguageModelV4Prompt[number], { role: 'user' }>['content'] = [{ type: 'text', text: 'What is it?' }]
  prompt.push({ role: 'user', content })
  expect(hasImages(prompt)).toBe(false)
  // A message of the user is merged into the one before it.
  content.push(image)
  expect([hasImages(prompt), hasImages(prompt)]).toEqual([true, true])
  content.pop()
  prompt.push({ role: 'assistant', content: [] })
  expect(hasImages(prompt)).toBe(false)
  prompt.push({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'look', output: { type: 'content', value: [image] } }],
  })
  expect(hasImages(prompt)).toBe(true)
})
