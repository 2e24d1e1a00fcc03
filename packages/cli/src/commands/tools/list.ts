import { oneLine, safeJson } from '@mulligan/host/light'
import { openTools, problemText } from '@mulligan/host/parts'
import { ownCodeIn } from '../../own-code.ts'
import { workingFolder } from '../../paths.ts'
import { liftText, toolsText } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'

export interface ToolsFlags {
  readonly cwd?: string
  readonly json?: boolean
}

export async function listTools(flags: ToolsFlags, { out, err }: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const { tools, own, problems, untrusted } = await openTools(cwd, { env: process.env, around: ownCodeIn(cwd) })
  const listed = tools.map(({ name, effect, description }) => ({ name, effect, source: own.has(name) ? 'own' : 'built-in', description }))
  if (flags.json) out(`${safeJson({ tools: listed, problems, ...(untrusted && { untrusted: untrusted.found.files }) })}\n`)
  else {
    const rows = listed.map(({ name, effect, source, description }) => [
      name,
      effect,
      source,
      oneLine(description.split('\n')[0] ?? '', 90),
    ])
    out(`${table([['TOOL', 'EFFECT', 'FROM', 'WHAT IT DOES'], ...rows]).join('\n')}\n`)
    for (const problem of problems) err(`Left out: ${problemText(problem)}\n`)
    if (untrusted) err(`Not loaded: ${toolsText(untrusted)}. ${liftText(cwd)}\n`)
  }
  return 0
}
