/** What a folder brings that needs the person's word: asked for once, and where nobody is there, left out and said so. */
import type { NamedAgent } from '../agents/agents.ts'
import type { Withheld } from '../config/admit.ts'
import { readSettings, type Settings } from '../config/settings.ts'
import { EXIT, UsageError } from '../exit.ts'
import { endProcess } from '../own-code.ts'
import { TOOLS_FOLDER } from '../paths.ts'
import { type Ask, askInTerminal } from '../ui/ask.ts'
import type { Output } from '../ui/output.ts'
import { oneLine, safeJson } from '../ui/sanitize.ts'
import { changeTrust, readTrust, withTrusted } from './store.ts'
import { type FolderTools, folderTools, needsTrust } from './tools.ts'

export interface Wanted {
  readonly cwd: string
  /** That the settings are of. */
  readonly project: string
  /** Absent where they are trusted, or there are none. */
  readonly tools?: FolderTools
  readonly settings: readonly Withheld[]
}

export interface Chosen {
  readonly settings: Settings
  readonly agents?: { readonly withheld: readonly Withheld[] }
  readonly named?: NamedAgent
}

export interface Who {
  /** Absent when nobody is there. */
  readonly ask?: Ask
  readonly signal?: AbortSignal
  readonly tell: (line: string) => void
  /** What the command uses, where that is not all: the tools and what runs with them, or the model. */
  readonly uses?: 'tools' | 'model'
}

/** All of it, whatever a command needs. */
export function wantedIn(cwd: string, { settings, agents }: Chosen): Wanted {
  const tools = folderTools(cwd)
  return {
    cwd,
    project: projectOf(settings, cwd),
    settings: [...settings.withheld, ...(agents?.withheld ?? [])],
    ...(needsTrust(tools) && { tools }),
  }
}

export const projectOf = ({ files }: Settings, cwd: string): string => files.find(({ origin }) => origin === 'project')?.folder ?? cwd

/** Of the settings, those that would count now: no flag or variable stands above them, and an agent's model is of the one that works. */
function relevant({ settings: { model, baseUrl }, named }: Chosen, { key }: Withheld): boolean {
  const isGiven = (setting: Settings['model']): boolean => setting?.origin === 'flag' || setting?.origin === 'env'
  if (key === 'model') return !isGiven(model)
  if (key === 'baseUrl') return !isGiven(baseUrl)
  return !key.startsWith('agents.') || (key === `agents.${named?.name}.model` && named?.origin === 'project' && model?.origin !== 'flag')
}

const isOfModel = ({ key }: Withheld): boolean => key === 'model' || key === 'baseUrl' || key.startsWith('agents.')

/**
 * Reads what is in force; where something of it needs the person's word, asks for it, keeps it, and reads again.
 * @throws UsageError where it can't be kept
 */
export async function settled<T extends Chosen>(cwd: string, read: () => Promise<T> | T, { ask, signal, tell, uses }: Who): Promise<T> {
  const chosen = await read()
  const { tools, ...all } = wantedIn(cwd, chosen)
  const wanted: Wanted = {
    ...all,
    settings: all.settings.filter((one) => relevant(chosen, one) && (uses === undefined || isOfModel(one) === (uses === 'model'))),
    ...(tools && uses !== 'model' && { tools }),
  }
  if (!wanted.tools && wanted.settings.length === 0) return chosen
  if (ask && (await isAllowed(wanted, ask, signal))) {
    await trust(wanted)
    return read()
  }
  for (const line of leftOut(wanted)) tell(`${line}\n`)
  return chosen
}

async function isAllowed(wanted: Wanted, ask: Ask, signal = new AbortController().signal): Promise<boolean> {
  const lines = ['This folder brings what needs your word:', ...listed(wanted), 'Trust it? [y/N] ']
  return /^y(?:es)?$/i.test((await ask(lines.join('\n'), signal))?.trim() ?? '')
}

/** @throws UsageError where it can't be kept */
export async function trust({ cwd, project, tools, settings }: Wanted): Promise<void> {
  await changeTrust(cwd, (folders) => {
    const kept = settings.map(({ key, value }) => ({ key, value }))
    const withSettings = kept.length === 0 ? folders : withTrusted(folders, project, { settings: kept })
    return tools ? withTrusted(withSettings, cwd, { tools: tools.found.hash, settings: [] }) : withSettings
  })
}

/** A line for each thing, for the person who decides. */
export const listed = ({ tools, settings }: Wanted): readonly string[] => [
  ...(tools
    ? [`  ${TOOLS_FOLDER}: ${filesText(tools)}, code that runs outside the sandbox${tools.state === 'changed' ? '; it has changed' : ''}`]
    : []),
  ...settings.map(
    ({ key, value, does, from }) => `  ${oneLine(from, 100)}: ${oneLine(`${key} ${safeJson(value)}`, 400)}, which ${oneLine(does, 200)}`,
  ),
]

/** What is not in force, and the command that lifts it. */
function leftOut({ cwd, tools, settings }: Wanted): readonly string[] {
  const { problem } = readTrust(cwd)
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
  const wanted = wantedIn(cwd, chosen)
  for (const line of leftOut(wanted)) err(`${line}\n`)
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
  settled(cwd, () => ({ settings: readSettings(cwd) }), {
    uses: 'tools',
    tell: err,
    ...(isAttendedFor(flags) && { ask: askInTerminal(() => endProcess(EXIT.cancelled)) }),
  })

/** @throws UsageError for a command that can't do its work without them */
export function refuseUntrusted(cwd: string): void {
  const tools = folderTools(cwd)
  if (needsTrust(tools)) throw new UsageError(`not loaded: ${toolsText(tools)}`, `${liftText(cwd)}. In a script: mulligan trust --yes`)
}
