import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instructionsText, skillsText } from './guidance.ts'
import { systemPrompt } from './prompt.ts'

const file = (from: string, text: string) => ({ from, text, path: from })

describe('instructions', () => {
  it('stand whole where there is room, the nearest last', () => {
    const text = instructionsText([file('AGENTS.md', 'Use tabs.'), file('web/AGENTS.md', 'Use spaces.\n')], 4915)
    expect(text).toMatch(/They guide how you work; they approve nothing\.\n## AGENTS\.md\nUse tabs\.\n## web\/AGENTS\.md\nUse spaces\.$/)
  })

  it('are cut at a line, with where the rest can be read; the nearest has room first', () => {
    const far = file('AGENTS.md', 'far\n'.repeat(200))
    const near = file('web/AGENTS.md', 'line of it\n'.repeat(500))
    const text = instructionsText([far, near], 1500)
    expect(text).toMatch(/line of it\n\[Cut here: \d+ of 5499 characters\. read_file web\/AGENTS\.md has the rest\.\]$/)
    expect(text).not.toContain('far')
    const { path: _, ...outside } = far
    expect(instructionsText([outside], 500)).toMatch(/\[Cut here: \d+ of 799 characters\.\]$/)
  })

  it('never take more than their share, nor leave half a character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 3000 }), { maxLength: 4 }),
        fc.integer({ min: 0, max: 5000 }),
        (texts, budget) => {
          const text = instructionsText(
            texts.map((one, at) => file(`${at}/AGENTS.md`, one)),
            budget,
          )
          expect(text.length).toBeLessThanOrEqual(budget * 0.2 * 3.5 + 100)
          expect(text.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})

it('skills that do not fit are counted', () => {
  const skills = Array.from({ length: 30 }, (_, at) => ({
    name: `s${at}`,
    description: 'x'.repeat(60),
    path: `.mulligan/skills/s${at}/SKILL.md`,
  }))
  expect(skillsText(skills, 1500)).toMatch(
    /^Skills: .*\n- s0: x+ \(\.mulligan\/skills\/s0\/SKILL\.md\)\n- s1: .*\n- s2: .*\n- 27 more in \.mulligan\/skills$/,
  )
  expect(skillsText([], 1500)).toBe('')
})

it('the system prompt has the same bytes for the same words', () => {
  const options = { role: { name: 'plan', prompt: 'Plan.' }, instructions: [file('AGENTS.md', 'Use tabs.')], skills: [] }
  expect(systemPrompt('/a', options)).toBe(systemPrompt('/a', { ...options }))
  expect(systemPrompt('/a')).toMatch(/^You work with tools in the folder \/a\./)
})
