/** `mulligan init` sets up a model, notes, Google, mail and Slack: by flags, or by questions that can be skipped. Then it checks them. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { type Ask, oneLine, toHome, UsageError } from '@mulligan/host/light'
import { type Candidate, candidatesOf, idOf, probeServers, readSettings, type ServerReport, servicesIn } from '@mulligan/host/parts'
import { fromHome, workingFolder } from '../../paths.ts'
import { EXIT, watchInterrupts } from '../../process.ts'
import { askInTerminal, isAttendedFor } from '../../ui/ask.ts'
import { colorsFor } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import { print } from '../../ui/text.ts'
import { googleCommand } from '../auth/google.ts'
import { mailCommand } from '../auth/mail.ts'
import { serviceStatus } from '../auth/status.ts'
import { setValue } from '../config/edit.ts'
import { assistantServices, type Check, linesOf, model as modelCheck, notes as notesCheck } from '../doctor/doctor.ts'

export interface InitFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly notes?: string
  /** The file of an OAuth client. */
  readonly google?: string
  /** False: no questions. */
  readonly ask?: boolean
  readonly browser?: boolean
  readonly json?: boolean
}

/** What was written, by key. */
type Written = Record<string, string>

interface Setup {
  readonly flags: InitFlags
  readonly output: Output
  readonly written: Written
  /** Undefined if there are no questions, or no more of them. An empty answer skips. */
  readonly ask: (question: string) => Promise<string>
  readonly isAsking: () => boolean
}

/** @param ask default: the terminal, if there is one. @returns 1 if something that is set up can't be used. @throws UsageError for a wrong flag */
export async function initCommand(flags: InitFlags, output: Output, ask?: Ask): Promise<number> {
  const interrupt = watchInterrupts(() => undefined)
  const asks = ask ?? (isAttendedFor(flags) && flags.ask !== false ? askInTerminal(interrupt.trigger) : undefined)
  const setup: Setup = {
    ...{ flags, output, written: {} },
    isAsking: () => asks !== undefined && !interrupt.signal.aborted,
    ask: async (question) => (interrupt.signal.aborted ? '' : ((await asks?.(question, interrupt.signal))?.trim() ?? '')),
  }
  try {
    for (const step of [setUpModel, setUpNotes, setUpGoogle, setUpMail, setUpSlack]) await step(setup)
    if (interrupt.signal.aborted) return EXIT.cancelled
    return await report(setup)
  } finally {
    interrupt.dispose()
  }
}

const configured = () => readSettings(workingFolder(undefined), {}, process.env)

async function write({ written }: Setup, key: string, value: string): Promise<void> {
  await setValue(key.split('.'), value, {})
  written[key] = value
}

async function setUpModel(setup: Setup): Promise<void> {
  const { flags, output, ask, isAsking } = setup
  if (flags.baseUrl !== undefined) await write(setup, 'baseUrl', flags.baseUrl)
  if (flags.model !== undefined) return write(setup, 'model', flags.model)
  if (!isAsking() || configured().model) return
  const reports = await probeServers(process.env)
  const found = candidatesOf(reports)
  output.err(`${found.length > 0 ? found.slice(0, SHOWN).map(choiceLine).join('\n') : nothingRuns(reports)}\n`)
  const answer = await ask(
    found.length > 0 ? 'Which model? Number, PROVIDER/NAME, or Enter to skip: ' : 'A model as PROVIDER/NAME, or Enter to skip: ',
  )
  const chosen = /^\d+$/.test(answer) ? found[Number(answer) - 1] : undefined
  if (chosen) return write(setup, 'model', idOf(chosen))
  if (answer !== '') await tried(setup, () => write(setup, 'model', answer))
}

/** Models that are offered. */
const SHOWN = 20

const choiceLine = (one: Candidate, at: number): string => `  ${at + 1}  ${oneLine(idOf(one), 80)}, ${oneLine(one.where, 40)}`

const nothingRuns = (reports: readonly ServerReport[]): string =>
  [
    'No model server answers on this machine. Start one of these, or name a model in the cloud:',
    ...reports.map(({ server, address }) => `  ${server.title}, ${address}: ${server.start}`),
  ].join('\n')

async function setUpNotes(setup: Setup): Promise<void> {
  const { flags, output, ask, isAsking } = setup
  if (flags.notes !== undefined) return write(setup, 'notes.vault', folderIn(flags.notes))
  if (!isAsking() || configured().notesVault) return
  const [vault] = vaultsAt(toHome('~/', process.env))
  if (vault !== undefined) output.err(`Found an Obsidian vault: ${fromHome(vault)}\n`)
  const answer = await ask(`The folder of your notes${vault === undefined ? '' : ' (y: this one)'}, or Enter to skip: `)
  const given = vault !== undefined && /^y(?:es)?$/i.test(answer) ? vault : answer
  if (given !== '') await tried(setup, () => write(setup, 'notes.vault', folderIn(given)))
}

/** @throws UsageError if it is not a folder */
function folderIn(given: string): string {
  const path = toHome(given, process.env)
  const folder = isAbsolute(path) ? path : resolve(path)
  if (existsSync(folder) && statSync(folder).isDirectory()) return given.startsWith('~') ? given : folder
  throw new UsageError(`${oneLine(given, 200)} is not a folder`, 'Name the folder of your notes: --notes ~/Notes')
}

/** Obsidian vaults in the home folder and in Documents. */
function vaultsAt(home: string): readonly string[] {
  return [home, join(home, 'Documents')].flatMap((folder) => {
    try {
      const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      return names.map(({ name }) => join(folder, name)).filter((path) => existsSync(join(path, '.obsidian')))
    } catch {
      return []
    }
  })
}

async function setUpGoogle(setup: Setup): Promise<void> {
  const { flags, output, ask, isAsking } = setup
  const login = (client: string): Promise<number> =>
    googleCommand({ client, ...(flags.browser !== undefined && { browser: flags.browser }) }, { ...output, out: output.err })
  if (flags.google !== undefined) {
    if ((await login(flags.google)) === EXIT.ok) setup.written['google'] = 'login'
    return
  }
  if (!isAsking() || servicesIn(configured(), process.env).includes('google')) return
  const client = await ask(
    'Google Drive, Gmail and Calendar: the JSON file of your OAuth client (? for how to get one), or Enter to skip: ',
  )
  if (client === '?') await tried(setup, () => googleCommand({}, output))
  else if (client !== '') await tried(setup, () => login(client))
}

async function setUpMail(setup: Setup): Promise<void> {
  const { output, ask, isAsking } = setup
  if (!isAsking() || servicesIn(configured(), process.env).includes('mail')) return
  const address = await ask('Mail by IMAP and SMTP: your address, or Enter to skip: ')
  if (address !== '') await tried(setup, () => mailCommand({ address }, { ...output, out: output.err }))
}

const SLACK = [
  'A bot token of an app that is installed in your workspace:',
  '  1. Open https://api.slack.com/apps and create an app.',
  '  2. Under "OAuth & Permissions", add the bot scopes channels:read, groups:read, channels:history, groups:history, users:read,',
  '     chat:write and im:write, and install the app.',
  '  3. export SLACK_BOT_TOKEN=xoxb-…, in the file of your shell, and invite the bot to the channels it should see.',
].join('\n')

async function setUpSlack({ output, ask, isAsking }: Setup): Promise<void> {
  if (!isAsking() || servicesIn(configured(), process.env).includes('slack')) return
  if (/^(?:y(?:es)?|\?)$/i.test(await ask('Slack: y to see how to set it up, or Enter to skip: '))) output.err(`${SLACK}\n`)
}

/** Runs a step that was answered. What fails is reported, and the next step follows. */
async function tried({ output }: Setup, run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    output.err(`${oneLine(error.message, 300)}\n${error.hint ?? ''}\n`)
  }
}

/** Says of each service whether it can be used, or how to set it up. */
async function report({ flags, output, written }: Setup): Promise<number> {
  const settings = configured()
  const [model, services] = await Promise.all([modelCheck(settings), assistantServices(settings)])
  const missing = serviceStatus(settings, process.env)
    .filter(({ service }) => !services.some(({ name }) => name === service))
    .map(({ service, says }): Check => ({ name: service, state: 'unused', says: 'not set up', remedy: says }))
  const notes = notesCheck(settings)
  const noNotes: Check = { name: 'notes', state: 'unused', says: 'not set up', remedy: 'mulligan config set notes.vault ~/Notes' }
  const checks = [model, ...(notes.length > 0 ? notes : [noNotes]), ...services, ...missing]
  const isReady = checks.every(({ state }) => state === 'ok' || state === 'unused')
  const lines = [
    ...Object.entries(written).map(([key, value]) => `${key} = ${oneLine(value, 200)}`),
    ...checks.flatMap((check) => linesOf(check, colorsFor(process.stdout))),
    isReady ? 'Try it: mulligan "what is in this folder?"' : 'mulligan doctor checks everything again.',
  ]
  print(output, flags.json, { ready: isReady, written, checks }, lines)
  return isReady ? EXIT.ok : EXIT.failed
}
