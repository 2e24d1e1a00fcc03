/** `/model`, `/mode` and `/agent` show or change the choice for the next turn. The conversation continues. */
import { MODES } from '@mulligan/core'
import { oneLine, UsageError } from '@mulligan/host/light'
import { candidatesOf, idOf, probeServers, readAgents, WAYS } from '@mulligan/host/parts'
import { table } from '../../ui/table.ts'
import type { ChatControl, SlashCommand } from './command.ts'

export const model: SlashCommand = {
  name: 'model',
  usage: '[NAME]',
  description: 'show or change the model: PROVIDER/NAME, followed by an address if it needs one',
  run: async (args, chat) => {
    const [name, baseUrl] = args.split(/\s+/)
    if (name) {
      const kept = name.includes('/') ? undefined : chat.choice().flags.baseUrl
      await chat.change({ model: name, baseUrl: baseUrl ?? kept }).catch((error: unknown) => {
        throw error instanceof UsageError && error.hint === WAYS ? unnamed(name) : error
      })
    }
    const { say, choice, colors } = chat
    const { id, where, contextTokens } = choice().configured.model
    const now = `${colors.bold(`${oneLine(id, 120)} on ${oneLine(where, 80)}`)}, ${contextTokens.toLocaleString('en-US')} tokens of context`
    say(name ? `From now on ${now}` : now, ...(name ? [] : await otherLines(chat)))
  },
}

/** The ways of the command line are none here. */
const unnamed = (name: string): UsageError =>
  new UsageError(
    `/model ${oneLine(name, 80)} does not name a provider`,
    'Write /model PROVIDER/NAME, or /model NAME ADDRESS for a server by its address. /model alone lists the available models.',
  )

/** What the servers on this machine have. Never throws. */
export async function foundModels(): Promise<readonly { readonly value: string; readonly description: string }[]> {
  return candidatesOf(await probeServers(process.env)).map((one) => ({ value: idOf(one), description: `on ${one.where}` }))
}

async function otherLines({ choice, colors }: ChatControl): Promise<readonly string[]> {
  const others = (await foundModels()).filter(({ value }) => value !== choice().configured.model.id)
  if (others.length === 0) return [colors.dim('No other model is available on this machine. Use /model PROVIDER/NAME for another one.')]
  const rows = others.map(({ value, description }) => [`  ${oneLine(value, 120)}`, oneLine(description, 80)])
  return ['', 'These answer too:', ...table(rows), colors.dim('/model PROVIDER/NAME takes one.')]
}

const MODE_SAYS: Readonly<Record<(typeof MODES)[number], string>> = {
  'read-only': 'reads only, changes nothing',
  ask: 'asks before each change',
  'auto-edit': 'changes files in the folder without asking, asks for the rest',
  auto: 'asks only when it must',
}

export const mode: SlashCommand = {
  name: 'mode',
  usage: '[MODE]',
  description: 'show or change how much runs without asking',
  run: async (asked, { change, choice, say, colors }) => {
    if (asked !== '') await change({ mode: asked })
    const now = choice().settings.approval.mode.value
    say(
      ...table(MODES.map((one) => [one === now ? '>' : ' ', one, MODE_SAYS[one]])).map((line) =>
        line.startsWith('>') ? colors.bold(line) : line,
      ),
    )
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
