/** `/tools` and `/status` show the current state. */

import { oneLine } from '@mulligan/host/light'
import { roleOf } from '@mulligan/host/parts'
import { fromHome } from '../../paths.ts'
import { table } from '../../ui/table.ts'
import type { SlashCommand } from './command.ts'

export const tools: SlashCommand = {
  name: 'tools',
  description: 'list the tools, their effects, and whether the model may call them now',
  anytime: true,
  run: (_, { tools: all, view, choice, say, colors }) => {
    const { named, settings } = choice()
    const role = roleOf(named, settings.off)
    const rows = all.map((tool) => {
      const closed = view().closed.find((one) => one.tool === tool.name)
      const withheld = role.withholds?.(tool)
      return [oneLine(tool.name, 64), tool.effect, withheld ? `not for agent ${named.name}` : closed ? 'closed' : 'open']
    })
    const [head = '', ...lines] = table([['TOOL', 'EFFECT', 'STATE'], ...rows])
    say(colors.dim(head), ...lines)
  },
}

export const status: SlashCommand = {
  name: 'status',
  description: 'show model, folder, mode, sandbox, context and session',
  anytime: true,
  run: (_, { choice, cwd, sandbox, session, view, sayRows }) => {
    const { configured, named, settings } = choice()
    const { id, where } = configured.model
    const contextTokens = view().contextTokens ?? configured.model.contextTokens
    const used = view().contextUsed
    const { value, from } = settings.approval.mode
    sayRows([
      ['model', `${oneLine(id, 120)} on ${oneLine(where, 80)}`],
      ['agent', oneLine(named.name, 40)],
      ['mode', `${value} (${oneLine(from, 80)})`],
      ['folder', oneLine(fromHome(cwd), 200)],
      ['sandbox', sandbox() ?? 'not open yet: the first command opens it'],
      [
        'context',
        `${used === undefined ? 'nothing' : used.toLocaleString('en-US')} of ${contextTokens.toLocaleString('en-US')} tokens used`,
      ],
      ['requests', `${settings.limits.requests.value} a turn at most (${oneLine(settings.limits.requests.from, 80)})`],
      ['session', session() ?? 'none yet: the first message starts it'],
    ])
  },
}
