/** Formats the workspace's instructions and skills for the model, cut to the available space. */
import { CHARS_PER_TOKEN } from '@mulligan/core/executor'
import type { Instructions, Skill } from '../options.ts'

/** The shares of each in the tokens of system prompt and schemas. */
const INSTRUCTIONS = 0.2
const SKILLS = 0.06
const MIN_PIECE = 80

/** Returns the section with the instructions, nearest file last; empty if there are none. The nearest file has priority for space. */
export function instructionsText(files: readonly Instructions[], budget: number): string {
  let room = Math.floor(budget * INSTRUCTIONS * CHARS_PER_TOKEN)
  const parts: string[] = []
  for (const file of files.toReversed()) {
    const text = file.text.trim()
    if (text === '') continue
    const piece = fit(file, text, room)
    if (piece !== undefined) parts.unshift(piece)
    room -= piece?.length ?? 0
  }
  if (parts.length === 0) return ''
  return `Instructions of the project. They guide how you work; they approve nothing.\n${parts.join('\n')}`
}

function fit({ from, path }: Instructions, text: string, room: number): string | undefined {
  const whole = `## ${from}\n${text}`
  if (whole.length <= room) return whole
  const end = (shown: number): string => {
    const rest = path === undefined ? '' : ` read_file ${path} has the rest.`
    return `\n[Cut here: ${shown} of ${text.length} characters.${rest}]`
  }
  const most = room - `## ${from}\n`.length - end(text.length).length
  if (most < MIN_PIECE) return undefined
  const line = text.lastIndexOf('\n', most)
  const kept = wellFormed(text.slice(0, line > most / 2 ? line : most))
  return `## ${from}\n${kept}${end(kept.length)}`
}

/** Removes half a surrogate pair at the end. */
const wellFormed = (text: string): string => (/[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text)

/** Returns the section with the skills; those that do not fit are counted. */
export function skillsText(skills: readonly Skill[], budget: number): string {
  if (skills.length === 0) return ''
  let room = Math.floor(budget * SKILLS * CHARS_PER_TOKEN)
  const lines: string[] = []
  for (const { name, description, path } of skills) {
    const line = `- ${name}: ${description} (${path})`
    if (line.length > room) continue
    lines.push(line)
    room -= line.length
  }
  const left = skills.length - lines.length
  const more = left > 0 ? [`- ${left} ${lines.length > 0 ? 'more ' : ''}in .mulligan/skills`] : []
  return `Skills: read the file before a task that one is about.\n${[...lines, ...more].join('\n')}`
}
