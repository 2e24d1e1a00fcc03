/** `/model`, `/mode` and `/agent` change the choice for the next turn; `/undo`, `/redo`, `/diff` and `/keep` manage changed files. */
import { MODES } from '@mulligan/core/executor'
import { oneLine, UsageError } from '@mulligan/host/light'
import { type Choice, candidatesOf, idOf, isProvider, modelsAt, probeServers, readAgents, WAYS } from '@mulligan/host/parts'
import { createChangeLog } from '@mulligan/tools'
import { table, thousands } from '../../ui/text.ts'
import type { ListRow } from '../panel/list-picker.ts'
import type { ChatControl, SlashCommand } from './control.ts'

export const model: SlashCommand = {
  name: 'model',
  aliases: ['models'],
  usage: '[NAME]',
  description: 'choose the model from a list, or by PROVIDER/NAME, followed by an address if it needs one',
  opens: true,
  run: async (args, chat) => {
    const [name, baseUrl] = args.split(/\s+/)
    const chosen = name || (chat.plain ? undefined : await pickModel(chat))
    if (chosen) {
      const [provider = ''] = chosen.split('/', 1)
      const kept = isProvider(provider) && provider !== COMPATIBLE ? undefined : addressOf(chat.choice())
      await chat.change({ model: chosen, baseUrl: baseUrl ?? kept }).catch((error: unknown) => {
        throw error instanceof UsageError && error.hint === WAYS ? unnamed(chosen) : error
      })
    }
    const { say, choice, colors } = chat
    const { id, where, contextTokens } = choice().configured.model
    const now = `${colors.bold(`${oneLine(id, 120)} on ${oneLine(where, 80)}`)}, ${thousands(contextTokens)} tokens of context`
    say(chosen ? `From now on ${now}` : now, ...(chosen || !chat.plain ? [] : await otherLines(chat)))
  },
}

/** @returns the chosen model; undefined if the list was closed */
async function pickModel(chat: ChatControl): Promise<string | undefined> {
  const { createListPicker } = await import('../panel/list-picker.ts')
  const { choice, colors, open } = chat
  const now = choice()
  const { id: current, where } = now.configured.model
  async function load(): Promise<readonly ListRow[]> {
    const all = await availableModels(now)
    return all.some(({ value }) => value === current) ? all : [{ value: current, description: `on ${where}` }, ...all]
  }
  return open((done, changed) =>
    createListPicker({
      ...{ title: 'Models', load, current, colors, changed, done },
      hint: 'type to narrow the list; /model PROVIDER/NAME takes any other',
    }),
  )
}

/** Error for a model name without a provider. The command-line flags do not apply in a chat, so it suggests chat commands. */
const unnamed = (name: string): UsageError =>
  new UsageError(
    `/model ${oneLine(name, 80)} does not name a provider`,
    'Write /model PROVIDER/NAME, or /model NAME ADDRESS for a server by its address. /model alone lists the available models.',
  )

/** Returns the models of the servers on this machine. Never throws. */
async function foundModels(): Promise<readonly ListRow[]> {
  return candidatesOf(await probeServers(process.env)).map((one) => ({ value: idOf(one), description: `on ${one.where}` }))
}

const COMPATIBLE = 'openai-compatible'

/** Returns the address that a flag, `/model` or the session has named. */
const addressOf = ({ remembered, flags }: Choice): string | undefined => ({ ...remembered, ...flags }).baseUrl

/** Returns the other models of the server whose address is configured. */
async function atConfigured(choice: Choice) {
  const { baseUrl } = choice.settings
  const url = addressOf(choice) ?? baseUrl?.value
  if (url === undefined) return []
  const names = await modelsAt(url, process.env, baseUrl?.origin !== 'project')
  return names.map((name) => ({ value: `${COMPATIBLE}/${name}`, description: `on ${new URL(url).host}` }))
}

/** Returns the models of the configured server and of those on this machine. Never throws. */
export const availableModels = async (choice: Choice): Promise<readonly ListRow[]> =>
  (await Promise.all([atConfigured(choice).catch(() => []), foundModels()])).flat()

async function otherLines({ choice, colors }: ChatControl): Promise<readonly string[]> {
  const all = await availableModels(choice())
  const others = all.filter(({ value }) => value !== choice().configured.model.id)
  if (others.length === 0) return [colors.dim('No other model is available. Use /model PROVIDER/NAME for another one.')]
  const rows = others.map(({ value, description }) => [`  ${oneLine(value, 120)}`, oneLine(description, 80)])
  return ['', 'Also available:', ...table(rows), colors.dim('/model PROVIDER/NAME switches to one.')]
}

const MODE_SAYS: Readonly<Record<(typeof MODES)[number], string>> = {
  'read-only': 'reads only, changes nothing',
  ask: 'asks before each change',
  'auto-edit': 'changes files in the folder without asking, asks for the rest',
  auto: 'asks only when it must',
}

const YES_SAYS = 'Started with --yes: what the mode would ask about is allowed, except what only you may approve.'

export const mode: SlashCommand = {
  name: 'mode',
  aliases: ['permissions', 'approvals'],
  usage: '[MODE]',
  description: 'show or change how much runs without asking',
  run: async (asked, { change, choice, say, sayRows, yes }) => {
    if (asked !== '') await change({ mode: asked })
    const now = choice().settings.approval.mode.value
    if (yes) say(YES_SAYS)
    sayRows(MODES.map((one) => [`${one === now ? '>' : ' '} ${one}`, MODE_SAYS[one]]))
  },
}

export const agent: SlashCommand = {
  name: 'agent',
  usage: '[NAME]',
  description: 'show or change the agent',
  run: async (asked, { change, choice, say, cwd, colors }) => {
    if (asked !== '') await change({ agent: asked })
    const { all } = await readAgents(cwd, choice().settings, process.env)
    const now = choice().named.name
    const rows = all.map(({ name, description }) => [name === now ? '>' : ' ', oneLine(name, 40), oneLine(description, 80)])
    say(...table(rows).map((line) => (line.startsWith('>') ? colors.bold(line) : line)))
  },
}

type Purpose = 'undo' | 'redo' | 'diff'

export const undo: SlashCommand = {
  name: 'undo',
  usage: '[TURN]',
  description: 'undo the changes of the last turn',
  run: (turn, chat) => undoOrRedo('undo', turn, chat),
}

export const redo: SlashCommand = {
  name: 'redo',
  usage: '[TURN]',
  description: 'restore changes that were undone',
  run: (turn, chat) => undoOrRedo('redo', turn, chat),
}

export const diff: SlashCommand = {
  name: 'diff',
  usage: '[TURN]',
  description: 'show what the last turn changed',
  run: async (turn, chat) => {
    const { diffCommand } = await import('../../commands/undo.ts')
    await diffCommand(numbered(turn, chat) || (await lastOf(chat, 'diff')), { cwd: chat.cwd }, chat.output)
  },
}

export const keep: SlashCommand = {
  name: 'keep',
  description: 'copy ignored files that commands changed, such as build output, into the workspace; undo does not revert this',
  run: async (_, { ignored, say }) => {
    const kept = await ignored.keep()
    if (kept.length === 0)
      throw new UsageError('there is nothing to keep', 'No command of this session has changed files that git ignores.')
    say(...kept.map((line) => oneLine(line, 400)))
  },
}

/** Undoes or redoes a turn. Accepts `--force`, because the error for conflicting changes suggests it. */
async function undoOrRedo(kind: 'undo' | 'redo', args: string, chat: ChatControl): Promise<void> {
  const { undoCommand } = await import('../../commands/undo.ts')
  const words = args.split(/\s+/)
  const turn = numbered(words.filter((word) => word !== '--force').join(' '), chat)
  await undoCommand(kind, turn || (await lastOf(chat, kind)), { cwd: chat.cwd, force: words.includes('--force') }, chat.output)
}

/** Completes the number of a turn of this session to its id. */
const numbered = (turn: string, { session }: ChatControl): string => (/^\d+$/.test(turn) ? `${session()}/${turn}` : turn)

/** Returns the last turn of this session that can be undone, redone or shown. Changes of other sessions are only undone if named. */
async function lastOf({ cwd, data, session, store }: ChatControl, purpose: Purpose): Promise<string> {
  const { checkLatest, readTurns } = await import('../../commands/undo.ts')
  const turns = await readTurns(createChangeLog({ dir: data.changes, root: cwd }))
  const mine = turns.filter(({ turn }) => turn.startsWith(`${session()}/`))
  const fits = mine.filter(({ undone, redoable }) => (purpose === 'redo' ? redoable : !undone))
  const [what] = [{ undo: 'undo', redo: 'redo', diff: 'show' }[purpose]]
  const found = fits.at(-1)
  if (!found)
    throw new UsageError(
      `there is nothing to ${what} in this session`,
      'mulligan undo --list shows the turns of all sessions of this folder; name one here.',
    )
  if (purpose === 'undo') await checkLatest(store, found, turns, cwd, '/undo')
  return found.turn
}
