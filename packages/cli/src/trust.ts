/** Describes what in a folder needs the user's approval: the question, what is not effective, and the command that allows it. */

import { type Ask, oneLine, safeJson, TOOLS_FOLDER, UsageError } from '@mulligan/host/light'
import {
  type Chosen,
  type FolderTools,
  folderTools,
  needsTrust,
  readSettings,
  type Settings,
  settled as settledBy,
  type Wanted,
  wantedIn,
} from '@mulligan/host/parts'
import { EXIT, endProcess } from './process.ts'
import { askInTerminal, isAttendedFor, isConfirmed } from './ui/ask.ts'
import type { Output } from './ui/output.ts'

export interface Who {
  /** Absent if there is no user to ask. */
  readonly ask?: Ask
  readonly signal?: AbortSignal
  readonly tell: (line: string) => void
  /** What the command uses, if not everything: the tools and what runs with them, or the model. */
  readonly uses?: 'tools' | 'model'
}

/** Reads the effective configuration, and asks for approval if something needs it. @throws UsageError */
export const settled = <T extends Chosen>(cwd: string, read: () => Promise<T> | T, { ask, signal, tell, uses }: Who): Promise<T> =>
  settledBy(cwd, read, { env: process.env, uses, ...(ask && { trust: trustInWords(ask, signal) }), onWithheld: tellLeftOut(tell) })

/** Asks the user whether to trust the folder. */
export const trustInWords =
  (ask: Ask, signal: AbortSignal = new AbortController().signal) =>
  async (wanted: Wanted): Promise<boolean> => {
    const lines = ['This folder contains settings or tools that need your approval:', ...listed(wanted), 'Trust it? [y/N] ']
    return isConfirmed(ask, lines.join('\n'), signal)
  }

export const tellLeftOut =
  (tell: (line: string) => void) =>
  (wanted: Wanted): void => {
    for (const line of leftOut(wanted)) tell(`${line}\n`)
  }

/** Characters of a value in a question: what a person approves must be there to read. */
const MAX_VALUE = 4000

/** Returns one line per item, for the user to decide. */
export const listed = ({ tools, settings }: Wanted): readonly string[] => [
  ...(tools
    ? [`  ${TOOLS_FOLDER}: ${filesText(tools)}, code that runs outside the sandbox${tools.state === 'changed' ? '; it has changed' : ''}`]
    : []),
  ...settings.map(
    ({ key, value, does, from }) =>
      `  ${oneLine(from, 100)}: ${oneLine(`${key} ${safeJson(value)}`, MAX_VALUE)}, which ${oneLine(does, 200)}`,
  ),
]

/** Returns what is not effective, and the command that allows it. */
function leftOut({ cwd, tools, settings, problem }: Wanted): readonly string[] {
  return [
    ...(tools ? [`Not loaded: ${toolsText(tools)}. ${liftText(cwd)}`] : []),
    ...settings.map(
      ({ key, value, does, from }) =>
        `Ignored: ${oneLine(from, 100)} sets ${oneLine(`${key} to ${safeJson(value)}`, 300)}, which ${oneLine(does, 200)}. ${liftText(cwd)}`,
    ),
    ...(problem === undefined || (!tools && settings.length === 0) ? [] : [oneLine(problem, 400)]),
  ]
}

export const liftText = (cwd: string): string => `To allow it: mulligan trust${isHere(cwd) ? '' : ` --cwd ${JSON.stringify(cwd)}`}`

function isHere(cwd: string): boolean {
  try {
    return process.cwd() === cwd
  } catch {
    return false
  }
}

export const toolsText = (tools: FolderTools): string =>
  `${TOOLS_FOLDER} (${filesText(tools)}), ${tools.state === 'changed' ? 'which has changed since you trusted it' : 'which you have not trusted'}`

const MAX_NAMED = 20

function filesText({ found: { files } }: FolderTools): string {
  const rest = files.length > MAX_NAMED ? ` and ${files.length - MAX_NAMED} more` : ''
  return `${oneLine(files.slice(0, MAX_NAMED).join(', '), 1000)}${rest}`
}

/**
 * For commands that show the effective configuration: prints one line on stderr for each item that is not effective, and returns the same
 * as data.
 */
export function tellUntrusted(cwd: string, chosen: Chosen, { err }: Pick<Output, 'err'>): { readonly untrusted?: object } {
  const wanted = wantedIn(cwd, chosen, process.env)
  tellLeftOut(err)(wanted)
  const { tools, settings } = wanted
  if (!tools && settings.length === 0) return {}
  return { untrusted: { tools: tools?.found.files ?? [], settings: settings.map(({ key, value, from }) => ({ key, value, from })) } }
}

/** Reads the settings for the commands about tools. Ctrl-C at the question ends the command. */
export const settledTools = (
  cwd: string,
  flags: { readonly json?: boolean },
  { err }: Pick<Output, 'err'>,
): Promise<{ readonly settings: Settings }> =>
  settled(cwd, () => ({ settings: readSettings(cwd, {}, process.env) }), {
    uses: 'tools',
    tell: err,
    ...(isAttendedFor(flags) && { ask: askInTerminal(() => endProcess(EXIT.cancelled)) }),
  })

/** @throws UsageError if the folder's tools are not trusted, for commands that need them */
export function refuseUntrusted(cwd: string): void {
  const tools = folderTools(cwd, process.env)
  if (needsTrust(tools)) throw new UsageError(`not loaded: ${toolsText(tools)}`, `${liftText(cwd)}. In a script: mulligan trust --yes`)
}
