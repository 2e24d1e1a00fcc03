import { describe, expect, it } from 'vitest'
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
