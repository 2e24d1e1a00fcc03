/** The slash commands, in the order of the help. To add one, add a line here. */

import { resolve } from 'node:path'
import { nearest } from '@mulligan/core/executor'
import { oneLine, sanitize, UsageError } from '@mulligan/host/light'
import { projectSkills, promptCommands, roleOf, type Settings } from '@mulligan/host/parts'
import { statusText } from '../../commands/mcp/status-text.ts'
import { fromHome } from '../../paths.ts'
import { localTime, modeText, table, thousands } from '../../ui/text.ts'
import { sessionUsage, usageLines } from '../../ui/usage.ts'
import { healthLines } from '../health.ts'
import { todoLines } from '../todo.ts'
import type { Row } from '../view.ts'
import { agent, diff, keep, mode, model, redo, undo } from './choices.ts'
import type { ChatControl, SlashCommand } from './control.ts'
import { hintFor } from './elsewhere.ts'
import { KEYS } from './keys.ts'
import { branch, rewind } from './rewind.ts'
import { theme } from './theme.ts'

export const usageOf = ({ name, usage }: { readonly name: string; readonly usage?: string | undefined }): string =>
  usage ? `/${name} ${usage}` : `/${name}`

/** Whether a built-in command has exactly this name or alias. */
export const isBuiltIn = (name: string): boolean => COMMANDS.some((one) => one.name === name || one.aliases?.includes(name) === true)

/** Finds a command by its name, an alias or an unambiguous prefix. @throws UsageError */
export function findCommand(name: string): SlashCommand {
  const names = COMMANDS.flatMap((one) => [one.name, ...(one.aliases ?? [])])
  const of = (called: string): SlashCommand | undefined => COMMANDS.find((one) => one.name === called || one.aliases?.includes(called))
  const found = of(name)
  if (found) return found
  const begun = name === '' ? [] : [...new Set(names.filter((one) => one.startsWith(name)).map(of))]
  if (begun.length === 1) return begun[0] as SlashCommand
  const near =
    begun.length > 1 ? begun.map((one) => `/${one?.name}`).join(' or ') : nearest(name, names, 1).map((one) => `/${of(one)?.name}`)[0]
  const hint = hintFor(name)
  if (hint !== undefined) throw new UsageError(`there is no command /${name} here`, hint)
  throw new UsageError(
    `unknown command /${oneLine(name, 40)}${near ? `; did you mean ${near}?` : ''}`,
    `/help lists the commands. To send it as a message: //${oneLine(name, 40)}`,
  )
}

/** Whether a command acts during a turn. That there is none of this name is told at once, too. */
export function isAnytime(name: string): boolean {
  try {
    return findCommand(name).anytime === true
  } catch {
    return true
  }
}

/** A newcomer does not know what is counted. */
const requestsText = (made: number, { value, from }: Settings['limits']['requests']): string =>
  `${made} of at most ${value} used in the latest turn (${oneLine(from, 80)}); one request is one reply of the model, with its tool calls`

const MAX_LISTED = 20

/** Lists the latest sessions, where they cannot be chosen from a panel. */
async function listSessions({ store, cwd, say }: ChatControl): Promise<void> {
  const sessions = await store.sessions({ cwd, limit: MAX_LISTED })
  if (sessions.length === 0) say('There are no sessions in this folder yet.')
  else
    say(...table(sessions.map(({ id, title, updatedAt }) => [id, localTime(updatedAt), oneLine(title, 200)])), '/resume ID continues one.')
}

/** The message of `/init`. */
const INIT = [
  'Write the file AGENTS.md for this project: what someone who works on it needs to know and cannot see at a glance.',
  'First look at the README, the manifests, the scripts, the configuration of tests and linters, and the source folders. If there is an AGENTS.md, improve it and keep what is still true.',
  'State the commands to install, build, run, check and test everything and one single test; where things are; and the rules of style that the code follows. Only what you have seen, at most 60 lines.',
].join('\n')

export const COMMANDS: readonly SlashCommand[] = [
  {
    name: 'help',
    aliases: ['?'],
    usage: '[keys]',
    description: 'show the commands and keys, or the keys only, as ? alone does',
    anytime: true,
    run: async (only, { sayRows, tell, cwd, mcp }) => {
      if (only === 'keys') return sayRows(KEYS)
      const { commands, problems } = await promptCommands(cwd, process.env)
      const own = commands.filter(({ name }) => !isBuiltIn(name)).map((one): Row => [usageOf(one), `${one.description} (${one.from})`])
      const prompts = mcp.prompts().map((one): Row => [oneLine(usageOf({ ...one, name: one.command }), 100), oneLine(one.description, 200)])
      sayRows([...COMMANDS.map((one): Row => [usageOf(one), one.description]), ...own, ...prompts, ['', ''], ...KEYS])
      for (const { file, error } of problems) tell(`Left out: ${file}: ${error}`)
    },
  },
  model,
  mode,
  agent,
  theme,
  {
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
  },
  {
    name: 'status',
    aliases: ['context'],
    description: 'show model, folder, mode, sandbox, context, how well tool calls work, and session',
    anytime: true,
    run: (_, { choice, cwd, sandbox, session, view, yes, sayRows }) => {
      const { configured, named, settings } = choice()
      const { id, where } = configured.model
      const contextTokens = view().contextTokens ?? configured.model.contextTokens
      const used = view().contextUsed
      sayRows([
        ['model', `${oneLine(id, 120)} on ${oneLine(where, 80)}`],
        ['agent', oneLine(named.name, 40)],
        ['mode', `${modeText(settings, yes)} (${oneLine(settings.approval.mode.from, 80)})`],
        ['folder', oneLine(fromHome(cwd), 200)],
        ['sandbox', sandbox() ?? 'not open yet: the first command opens it'],
        ['context', `${used === undefined ? 'nothing' : thousands(used)} of ${thousands(contextTokens)} tokens used`],
        ['requests', requestsText(view().requests, settings.limits.requests)],
        ...healthLines(view().health).map((line, at): Row => [at === 0 ? 'calls' : '', line]),
        ['session', session() ?? 'none yet: the first message starts it'],
      ])
    },
  },
  {
    name: 'mcp',
    description: 'show the MCP servers, their tools and prompts',
    anytime: true,
    run: async (_, control) => {
      await control.ready(control.signal())
      const { servers, mcp, tools, say, colors } = control
      const found = servers()
      if (found.length === 0) return say('There are no MCP servers.', colors.dim('mulligan mcp add NAME -- COMMAND… adds one.'))
      for (const server of found) {
        const ofServer = tools.filter(({ service }) => service === `mcp ${server.name}`).map(({ name }) => name)
        const prompts = mcp.prompts().flatMap((one) => (one.server === server.name ? [usageOf({ ...one, name: one.command })] : []))
        const lines = [ofServer.join(', '), prompts.join(', ')].filter((line) => line !== '')
        say(oneLine(statusText(server), 300), ...lines.map((line) => colors.dim(`  ${oneLine(line, 500)}`)))
      }
    },
  },
  {
    name: 'skills',
    description: 'list the skills, which the model reads when it needs them',
    anytime: true,
    run: async (_, { cwd, say, colors }) => {
      const { skills } = await projectSkills(cwd)
      if (skills.length === 0) return say('There are no skills here.', colors.dim('They are in .mulligan/skills/NAME/SKILL.md.'))
      const [head = '', ...lines] = table([['SKILL', 'DESCRIPTION', 'FILE'], ...skills.map((one) => [one.name, one.description, one.path])])
      say(colors.dim(head), ...lines)
    },
  },
  {
    name: 'todo',
    aliases: ['todos', 'tasks'],
    description: 'show the task list of the model',
    anytime: true,
    run: (_, { view, say, colors }) => {
      const { todos } = view()
      if (todos.length === 0) return say('The model has no task list in this session.')
      say(...todoLines(todos, { lines: Math.max(3, todos.length), columns: 200, colors }))
    },
  },
  {
    name: 'init',
    description: 'let the model write an AGENTS.md for this project',
    run: (_, { send }) => send(INIT),
  },
  {
    name: 'cost',
    aliases: ['usage', 'stats', 'tokens'],
    description: 'show the requests, tokens and cost of this session, by model',
    anytime: true,
    run: async (_, { store, session, choice, say, colors }) => {
      const id = session()
      const rows = id === undefined ? [] : await sessionUsage(store, id, choice().settings.models)
      if (rows.length === 0) return say('No turn of this session has ended yet.')
      const [head = '', ...lines] = usageLines(rows)
      const unpriced = rows.find(({ cost }) => cost === undefined)
      const hint = `No prices are set for ${oneLine(unpriced?.model ?? '', 80)}. In the configuration, per million tokens: "models": { ${JSON.stringify(unpriced?.model)}: { "prices": { "input": 1, "output": 5 } } }`
      say(colors.dim(head), ...lines, ...(unpriced ? [colors.dim(sanitize(hint))] : []))
    },
  },
  undo,
  redo,
  rewind,
  branch,
  diff,
  keep,
  {
    name: 'compact',
    aliases: ['summarize'],
    description: 'summarize the conversation to free context; happens automatically when the context is nearly full',
    run: async (_, { agent, session }) => {
      const id = session()
      // The result is reported by an event.
      if (id === undefined || !(await agent().compact(id)))
        throw new UsageError('there is nothing to compact yet', 'It happens automatically when the context is nearly full.')
    },
  },
  {
    name: 'clear',
    aliases: ['new'],
    description: 'start a new session; you can resume this one later',
    run: async (_, { goOnWith, session, say, colors }) => {
      const before = session()
      await goOnWith(undefined)
      say(before === undefined ? 'A new session.' : `A new session. ${colors.dim(`/resume ${before} goes back.`)}`)
    },
  },
  {
    name: 'resume',
    aliases: ['sessions'],
    usage: '[ID]',
    description: 'continue another session; without an ID, search the sessions, and rename, export or delete them',
    opens: true,
    run: async (id, chat) => {
      if (id === '' && chat.plain) return listSessions(chat)
      const chosen = id === '' ? await chat.open((await import('./pick-session.ts')).sessionList(chat, chat.session())) : id
      if (chosen !== undefined) await chat.goOnWith(chosen)
    },
  },
  {
    name: 'export',
    usage: '[FILE]',
    description: 'write the conversation to a Markdown file, without keys from the environment',
    run: async (args, { session, cwd, output }) => {
      const [file = '', force] = args.split(/\s+(--force)$/)
      const id = session()
      if (id === undefined) throw new UsageError('there is no conversation yet', 'The first message starts one.')
      const { exportSession } = await import('../../commands/sessions/sessions.ts')
      await exportSession(id, { cwd, output: resolve(cwd, file || `${id}.md`), force: file === '' || force !== undefined }, output)
    },
  },
  {
    name: 'continue',
    description: 'resume a turn that was interrupted when its process ended',
    run: async (_, { agent, session, turn, steering }) => {
      const id = session()
      let isThere = false
      if (id !== undefined)
        await turn(async (signal) => {
          const outcome = await agent().resume(id, { signal, steering })
          isThere = outcome !== undefined
          return outcome
        })
      if (!isThere) throw new UsageError('no turn of this session was interrupted', 'Send a message to continue.')
    },
  },
  {
    name: 'quit',
    aliases: ['exit', 'q'],
    description: 'quit; you can resume the session later',
    anytime: true,
    run: (_, { leave }) => leave(),
  },
]
