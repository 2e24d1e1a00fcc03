/** `mulligan tools list` and `show` describe the tools. */
import type { Tool } from '@mulligan/core'
import { indexNames, resolveName } from '@mulligan/core/executor'
import { oneLine, safeJson, sanitize, UsageError } from '@mulligan/host/light'
import { leftOutTexts, openTools } from '@mulligan/host/parts'
import { workingFolder } from '../../paths.ts'
import { ownCodeIn } from '../../process.ts'
import { liftText, refuseUntrusted, settledTools, toolsText } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'
import { type FolderFlags, print, table } from '../../ui/text.ts'

/** @throws UsageError if there is no such tool */
export async function showTool(name: string, flags: FolderFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const { settings } = await settledTools(cwd, flags, output)
  await using opened = await openTools(cwd, { env: process.env, settings, around: ownCodeIn(cwd) })
  await opened.ready()
  const { tools, untrusted } = opened
  for (const text of leftOutTexts(opened)) output.err(`Left out: ${text}\n`)
  if (untrusted && resolveName(name, indexNames(tools)).kind !== 'tool') refuseUntrusted(cwd)
  const tool = toolNamed(name, tools)
  print(output, flags.json, shownTool(tool), [textOf(tool)])
  return 0
}

function toolNamed(name: string, tools: readonly Tool[]): Tool {
  const found = resolveName(name, indexNames(tools))
  if (found.kind === 'tool') return found.tool
  const [near] = found.candidates
  throw new UsageError(
    `there is no tool ${oneLine(name, 64)}${near ? `; did you mean ${near}?` : ''}`,
    `The tools are ${tools.map((one) => one.name).join(', ')}.`,
  )
}

function shownTool({ name, description, effect, timeout, retries, aliases, parameterAliases, inputSchema, examples }: Tool) {
  const names = aliases.map((alias) => alias.name)
  return { ...{ name, description, effect, timeout, retries }, aliases: names, parameterAliases, inputSchema, examples }
}

function textOf(tool: Tool): string {
  const { name, description, effect, timeout, retries, aliases, parameterAliases, inputSchema, examples } = shownTool(tool)
  const others = Object.entries(parameterAliases).map(([parameter, names]) => `${parameter} (${names.join(', ')})`)
  const lines = [
    name,
    '',
    description,
    '',
    `effect   ${effect}`,
    `timeout  ${timeout} s`,
    `retries  ${retries}`,
    ...(aliases.length > 0 ? [`aliases  ${aliases.join(', ')}`] : []),
    ...(others.length > 0 ? [`parameter aliases  ${others.join(', ')}`] : []),
    '',
    'input',
    safeJson(inputSchema, 2),
    ...(examples.length > 0 ? ['', 'examples'] : []),
    ...examples.map(({ outcome, input, why }) => `  ${outcome.padEnd(6)}  ${safeJson(input)}${why ? `  ${why}` : ''}`),
  ]
  return sanitize(lines.join('\n'))
}

const isOfServer = (service: Tool['service']): service is string => typeof service === 'string' && service.startsWith('mcp ')

export async function listTools(flags: FolderFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  await using opened = await openTools(cwd, { env: process.env, around: ownCodeIn(cwd) })
  await opened.ready()
  const { tools, own, problems, untrusted, leftOut } = opened
  const sourceOf = ({ name, service }: Tool): string => (isOfServer(service) ? service : own.has(name) ? 'own' : 'built-in')
  const listed = tools.map((tool) => ({ name: tool.name, effect: tool.effect, source: sourceOf(tool), description: tool.description }))
  const rows = listed.map(({ name, effect, source, description }) => [name, effect, source, oneLine(description.split('\n')[0] ?? '', 90)])
  const lines = table([['TOOL', 'EFFECT', 'FROM', 'WHAT IT DOES'], ...rows])
  print(output, flags.json, { tools: listed, problems, ...(leftOut.length > 0 && { leftOut }), untrusted: untrusted?.found.files }, lines)
  if (!flags.json) {
    for (const text of leftOutTexts(opened)) output.err(`Left out: ${text}\n`)
    if (untrusted) output.err(`Not loaded: ${toolsText(untrusted)}. ${liftText(cwd)}\n`)
  }
  return 0
}
