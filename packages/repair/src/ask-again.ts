/** Builds the message to the model after a reply that may have been meant as a call. */
import { ANNOUNCED, type FinishedReply } from './reply.ts'

const MAX_SHOWN = 300

/** Builds the prompt for the single repeated request: what was seen, why it was not run and what to do. */
export function askAgain(quoted: FinishedReply['quoted']): string {
  const { raw = '', why = '' } = quoted.find(({ open }) => open) ?? quoted[0] ?? {}
  const said = raw.length > MAX_SHOWN ? `${raw.slice(0, MAX_SHOWN)}…` : raw
  if (why === ANNOUNCED)
    return `[You said what you would do next, and called no tool, so nothing was done. You wrote: ${said}\nIf a tool is needed, call it now. If not, give your whole answer again, in words.]`
  const seen = said === '' ? '' : ` You wrote: ${said}`
  return `[Your last reply was a tool call written as text, and was not run${why === '' ? '' : ` (${why})`}.${seen}\nIf you meant it, call the tool. If not, answer in words.]`
}
