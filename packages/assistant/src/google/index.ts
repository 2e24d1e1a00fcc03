/** The Google tools: Drive, Gmail and Calendar. */
import type { Tool } from '@mulligan/core'
import { memoryValues, type SessionValues } from '../common/pages.ts'
import { mailTools } from '../mail/tools.ts'
import { calendarTools } from './calendar.ts'
import { type GoogleOptions, googleClient } from './client.ts'
import { driveTools } from './drive.ts'
import { gmailMailbox } from './gmail.ts'

export type { GoogleAuth, GoogleOptions } from './client.ts'

/**
 * Creates the Google tools. Google is first contacted by a call.
 *
 * @param values where page tokens are kept. Default: in memory
 */
export function googleTools(options: GoogleOptions = {}, values: SessionValues = memoryValues()): Tool[] {
  const call = googleClient(options)
  const mail = options.mail === false ? [] : mailTools(gmailMailbox(call, values), values)
  return [...driveTools(call, values), ...mail, ...calendarTools(call)]
}
