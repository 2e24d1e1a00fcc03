/** What to do here for commands that other terminal agents have. */

const RULES = 'AGENTS.md is read in every session. /init writes it, and a message that begins with # adds to it.'
const SETTINGS = '/model, /mode, /agent and /theme change settings here; !mulligan config shows all of them.'
const KEYS = 'Keys are environment variables, and logins of services are mulligan auth. !mulligan doctor checks the setup.'
const OWN = 'Say it as a message, or make it a command of your own: .mulligan/commands/NAME.md'

const HINTS: Readonly<Record<string, string>> = {
  ...{ memory: RULES, rules: RULES, remember: RULES },
  ...{ config: SETTINGS, settings: SETTINGS, set: SETTINGS },
  ...{ login: KEYS, logout: KEYS, connect: KEYS, doctor: KEYS },
  ...{ review: OWN, 'pr-comments': OWN, commit: OWN, test: OWN },
  ...{ vim: 'Ctrl-G edits the input in your own editor.', editor: 'Ctrl-G edits the input in your own editor.' },
  ...{ 'add-dir': 'mulligan chat --cwd DIR works in another folder.', cd: 'mulligan chat --cwd DIR works in another folder.' },
  ...{ copy: '/export writes the conversation to a file.', share: '/export writes the conversation to a file.' },
  ...{ details: 'Ctrl-O shows calls in full.', transcript: 'Ctrl-O shows calls in full.', history: '/resume lists the sessions.' },
}

/** Returns what to do instead of a command of another agent; undefined if none is known. */
export const hintFor = (name: string): string | undefined => (Object.hasOwn(HINTS, name) ? HINTS[name] : undefined)
