import { describe, expect, it } from 'vitest'
import { createReply, families } from '../index.ts'
import { parseToolCalls } from '../parse-tool-calls.ts'
import { WRITERS } from './canonical-calls.fixture.ts'
import { ONE, TOOLS } from './rows.fixture.ts'

describe('thinking in the tokens of a family', () => {
  it.each([
    ['kimi-k3', '<|open|>think<|sep|>', '<|close|>think<|sep|><|open|>response<|sep|>', '<|close|>response<|sep|>'],
    ['solar-open2', '<|think:start|>', '<|think:end|>', ''],
    ['plamo', '<|plamo:begin_think:plamo|>', '<|plamo:end_think:plamo|>', ''],
  ])('%s: what is called in it is not run, and what is called after it is', (family, open, close, end) => {
    const call = WRITERS[family]?.([ONE]) ?? ''
    const plan = parseToolCalls(`${open}Perhaps ${call}, or not.${close}It is 4.${end}`, TOOLS)
    expect(plan).toMatchObject({ calls: [], text: 'It is 4.', reasoning: `Perhaps ${call}, or not.` })
    const meant = parseToolCalls(`${open}Look it up.${close}One moment.${end}${call}`, TOOLS)
    expect(meant).toMatchObject({ calls: [{ name: ONE.name, arguments: ONE.arguments }], text: 'One moment.', reasoning: 'Look it up.' })
  })
})

describe('a tag that people write about', () => {
  const CALL = WRITERS['glm']?.([ONE]) ?? ''

  /** The reply read as a whole, and as it streams in. */
  function readings(text: string) {
    const reply = createReply(TOOLS, { families })
    const shown = [...text].map((character) => reply.text(character))
    const { calls, ...rest } = reply.end()
    const all = [...shown, rest]
    const joined = (key: 'text' | 'reasoning') => all.map((one) => one[key]).join('')
    const whole = parseToolCalls(text, TOOLS)
    return [
      { text: whole.text, reasoning: whole.reasoning, calls: whole.calls.length },
      { text: joined('text'), reasoning: joined('reasoning'), calls: calls.length },
    ]
  }

  it.each(['think', 'thinking', 'reasoning'])('<%s> in prose hides nothing', (tag) => {
    for (const text of [
      `I write <${tag}> tags in docs. They mark the plan of a model.`,
      `Begin with <${tag}> and end with </${tag}> in every file.`,
      `First,\n<${tag}>\nopens it.`,
    ])
      for (const read of readings(text)) expect(read).toEqual({ text, reasoning: '', calls: 0 })
  })

  it.each(['think', 'thinking', 'reasoning'])('control: <%s> at the very start, or after reasoning, is reasoning', (tag) => {
    for (const read of readings(` <${tag}>Easy.</${tag}>\n<${tag}>Really.</${tag}>It is 4.`))
      expect(read).toEqual({ text: 'It is 4.', reasoning: 'Easy.Really.', calls: 0 })
  })

  it('what is called in a plan in the text is not run, and what is called after it is', () => {
    const plan = `Let me see. <think>Perhaps ${CALL}, or not.</think>`
    for (const read of readings(plan)) expect(read).toMatchObject({ reasoning: '', calls: 0 })
    for (const read of readings(`I write <think> in docs.\n${CALL}`)) expect(read).toMatchObject({ reasoning: '', calls: 1 })
    for (const read of readings(`${plan}\n${CALL}`)) expect(read).toMatchObject({ reasoning: '', calls: 1 })
  })
})
