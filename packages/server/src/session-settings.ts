/** What a client has chosen for a session, kept with it. */
import type { SessionRow } from '@mulligan/agent'

export interface SessionSettings {
  readonly model?: string
  readonly baseUrl?: string
  readonly agent?: string
  readonly mode?: string
}

const KEYS = ['model', 'baseUrl', 'agent', 'mode'] as const

export const settingsOf = ({ settings = {} }: Pick<SessionRow, 'settings'>): SessionSettings =>
  Object.fromEntries(KEYS.flatMap((key) => (typeof settings[key] === 'string' ? [[key, settings[key]]] : [])))
