/** Says an error to the user of a chat, with what to do. */
import { SessionBusy } from '@mulligan/agent'
import { oneLine, sanitize, UsageError } from '@mulligan/host/light'
import type { Colors } from '../ui/colors.ts'

export function errorLines(error: unknown, session: string | undefined, { red }: Colors): readonly string[] {
  const message = oneLine(error instanceof Error ? error.message : String(error), 500)
  const hint = hintOf(error, session)
  return [red(message), ...(hint === '' ? [] : hint.split('\n'))]
}

function hintOf(error: unknown, session: string | undefined): string {
  if (error instanceof UsageError) return sanitize(error.hint)
  if (error instanceof SessionBusy) return `/clear starts a new session; mulligan run --session ${session} --take-over "…" takes it over.`
  return ''
}
