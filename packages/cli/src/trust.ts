/** What a folder brings that needs the user's approval, in words: the question, what is left out, and the command that lifts it. */

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
import { EXIT } from './exit.ts'
import { endProcess } from './own-code.ts'
import { askInTerminal } from './ui/ask.ts'
import type { Output } from './ui/output.ts'

export interface Who {
  /** Absent when nobody is there. */
  readonly ask?: Ask
  readonly signal?: AbortSignal
  readonly tell: (line: string) => void
  /** What the command uses, where that is not all: the tools and what runs with them, or the model. */
  readonly uses?: 'tools' | 'model'
}

/** Reads what is in force, and asks for approval where something needs it. @throws UsageError */
export const settled = <T extends Chosen>(cwd: string, read: () => Promise<T> | T, { ask, signal, tell, uses }: Who): Promise<T> =>
  settledBy(cwd, read, { env: process.env, uses, ...(ask && { trust: trustInWords(ask, signal) }), onWithheld: tellLeftOut(tell) })

/** Asks whether to trust it. */
export const trustInWords =
  (ask: Ask, signal: AbortSignal = new AbortController().signal) =>
  async (wanted: Wanted): Promise<boolean> => {
    const lines = ['This folder brings what needs your word:', ...listed(wanted), 'Trust it? [y/N] ']
    return /^y(?:es)?$/i.test((await ask(lines.join('\n'), signal))?.trim() ?? '')
  }

export const tellLeftOut =
  (tell: (line: string) => void) =>
  (wanted: Wanted): void => {
    for (const line of leftOut(wanted)) tell(`${line}\n`)
  }

/** A line for each thing, for the user who decides. */
export const listed = ({ tools, settings }: Wanted): readonly string[] => [
  ...(tools
    ? [`  ${TOOLS_FOLDER}: ${filesText(tools)}, code that runs outside the sandbox${tools.state === 'changed' ? '; it has changed' : ''}`]
    : []),
  ...settings.map(
    ({ key, value, does, from }) => `  ${oneLine(from, 100)}: ${oneLine(`${key} ${safeJson(value)}`, 400)}, which ${oneLine(does, 200)}`,
  ),
]

/** What is not effective, and the command that lifts it. */
function leftOut({ cwd, tools, settings, problem }: Wanted): readonly string[] {
  return [
    ...(tools ? [`Not loaded: ${toolsText(tools)}. ${liftText(cwd)}`] : []),
    ...settings.map(
      ({ key, value, does, from }) =>
        `Not in force: ${oneLine(from, 100)} sets ${oneLine(`${key} to ${safeJson(value)}`, 300)}, which ${oneLine(does, 200)}. ${liftText(cwd)}`,
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

/** For commands that show what is in force: a line on stderr for each thing that is not, and the same for programs. */
export function tellUntrusted(cwd: string, chosen: Chosen, { err }: Pick<Output, 'err'>): { readonly untrusted?: object } {
  const wanted = wantedIn(cwd, chosen, process.env)
  tellLeftOut(err)(wanted)
  const { tools, settings } = wanted
  if (!tools && settings.length === 0) return {}
  return { untrusted: { tools: tools?.found.files ?? [], settings: settings.map(({ key, value, from }) => ({ key, value, from })) } }
}

/** Somebody is there to be asked, and reads the answer. */
export const isAttendedFor = ({ json }: { readonly json?: boolean }): boolean =>
  !json && process.stdin.isTTY === true && process.stderr.isTTY === true

/** For the commands about tools. Ctrl-C at the question ends the command. */
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

/** @throws UsageError for a command that can't do its work without them */
export function refuseUntrusted(cwd: string): void {
  const tools = folderTools(cwd, process.env)
  if (needsTrust(tools)) throw new UsageError(`not loaded: ${toolsText(tools)}`, `${liftText(cwd)}. In a script: mulligan trust --yes`)
}
