/** What can be chosen in an editor for the next turn: the mode, the model and the agent. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk'
import { MODES } from '@mulligan/core/executor'
import type { Env } from '@mulligan/host'
import { oneLine } from '@mulligan/host/light'
import { type Choice, type ChoiceChanges, candidatesOf, idOf, probeServers } from '@mulligan/host/parts'
import { badParams } from './errors.ts'

const MODE: Readonly<Record<(typeof MODES)[number], readonly [name: string, description: string]>> = {
  'read-only': ['Read only', 'Reads only, changes nothing'],
  ask: ['Ask', 'Asks before each change'],
  'auto-edit': ['Edit automatically', 'Changes files in the folder without asking, asks for the rest'],
  auto: ['Auto', 'Asks only when it must'],
}

export const modeState = ({ settings }: Choice): SessionModeState => ({
  currentModeId: settings.approval.mode.value,
  availableModes: MODES.map((id) => ({ id, name: MODE[id][0], description: MODE[id][1] })),
})

/** @param models other models that can be chosen, as `PROVIDER/NAME` */
export function configOptions({ settings, configured, named, agents }: Choice, models: readonly string[]): SessionConfigOption[] {
  const { id } = configured.model
  return [
    {
      ...{ type: 'select', id: 'mode', name: 'Mode', category: 'mode', currentValue: settings.approval.mode.value },
      options: MODES.map((value) => ({ value, name: MODE[value][0], description: MODE[value][1] })),
    },
    {
      ...{ type: 'select', id: 'model', name: 'Model', category: 'model', currentValue: id },
      description: `Runs on ${oneLine(configured.model.where, 80)}`,
      options: [...new Set([id, ...models])].map((value) => ({ value, name: oneLine(value, 120) })),
    },
    {
      ...{ type: 'select', id: 'agent', name: 'Agent', category: '_agent', currentValue: named.name },
      options: agents.map(({ name, description }) => ({ value: name, name, description: oneLine(description, 200) })),
    },
  ]
}

/** @throws RequestError */
export function optionChange(id: string, value: unknown): ChoiceChanges {
  if (typeof value !== 'string') throw badParams(`the option ${JSON.stringify(id.slice(0, 60))} takes one of the listed values`)
  if (id === 'mode') return { mode: value }
  if (id === 'agent') return { agent: value }
  if (id === 'model') return { model: value, baseUrl: undefined }
  throw badParams(`there is no option ${JSON.stringify(id.slice(0, 60))}; the options are mode, model and agent`)
}

/** Returns the models of the servers on this machine. Never throws. */
export const findModels = async (env: Env): Promise<readonly string[]> => candidatesOf(await probeServers(env).catch(() => [])).map(idOf)
