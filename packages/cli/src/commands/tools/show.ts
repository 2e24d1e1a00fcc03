import { indexNames, resolveName, type Tool } from '@mulligan/core'
import { oneLine, safeJson, sanitize, UsageError } from '@mulligan/host/light'
import { openTools, problemText } from '@mulligan/host/parts'
import { ownCodeIn } from '../../own-code.ts'
import { workingFolder } from '../../paths.ts'
import { refuseUntrusted, settledTools } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'
import type { ToolsFlags } from './list.ts'

/** @throws UsageError when there is no such tool */
export async function showTool(name: string, flags: ToolsFlags, output: Output): Promise<number> {
  const { out, err } = output
  const cwd = workingFolder(flags.cwd)
  const { settings } = await settledTools(cwd, flags, output)
  const { tools, problems, untrusted } = await openTools(cwd, { env: process.env, settings, around: ownCodeIn(cwd) })
  for (const problem of problems) err(`Left out: ${problemText(problem)}\n`)
  if (untrusted && resolveName(name, indexNames(tools)).kind !== 'tool') refuseUntrusted(cwd)
  const tool = toolNamed(name, tools)
  out(flags.json ? `${safeJson(shownTool(tool))}\n` : `${textOf(tool)}\n`)
  return 0
}

function toolNamed(name: string, tools: readonly Tool[]): Tool {
  const found = resolveName(name, indexNames(tools))
  if (found.kind === 'tool') return found.tool
  const [near] = found.candidates
  throw new UsageError(
    `there is no tool ${oneLine(name, 64)}${near ? `; did you mean ${near}?` : ''}`,
    `There are ${tools.map((one) => one.name).join(', ')}.`,
  )
}

function shownTool({ name, description, effect, timeout, retries, aliases, parameterAliases, inputSchema, examples }: Tool) {
  return {
    name,
    description,
    effect,
    timeout,
    retries,
    aliases: aliases.map((alias) => alias.name),
    parameterAliases,
    inputSchema,
    examples,
  }
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
