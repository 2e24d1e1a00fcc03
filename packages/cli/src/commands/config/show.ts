/** `mulligan config show` and `path` print the effective configuration and where it comes from. */

import { oneLine, safeJson, UsageError } from '@mulligan/host/light'
import { chooseModel, contextOf, type Row, readAgents, readSettings, rowsOf, type Settings } from '@mulligan/host/parts'
import { workingFolder } from '../../paths.ts'
import { tellUntrusted } from '../../trust.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'
import { warnOfNames } from '../unknown-names.ts'

export interface ConfigFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** `mulligan config path`. @throws UsageError when a file is wrong */
export async function configPath({ cwd, json }: ConfigFlags, { out }: Output): Promise<number> {
  const files = filesIn(readSettings(workingFolder(cwd), {}, process.env))
  if (json) out(`${safeJson({ files })}\n`)
  else for (const { path, found } of files) out(`${oneLine(path, 1000)}${found ? '' : '  (not there)'}\n`)
  return 0
}

/** @throws UsageError when a file is wrong */
export async function showConfig(flags: ConfigFlags, output: Output): Promise<number> {
  const { out } = output
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd, {}, process.env)
  const agents = await readAgents(cwd, settings, process.env)
  const untrusted = tellUntrusted(cwd, { settings, agents }, output)
  const rows = [...rowsOf(settings), ...(await contextRow(settings))]
  if (flags.json) out(`${safeJson({ settings: rows, files: filesIn(settings), ...untrusted })}\n`)
  else {
    const cells = rows.map(({ key, value, from }) => [key, oneLine(typeof value === 'string' ? value : (safeJson(value) ?? ''), 80), from])
    out(`${table([['KEY', 'VALUE', 'FROM'], ...cells]).join('\n')}\n`)
  }
  await warnOfNames(cwd, settings, agents, output)
  return 0
}

const filesIn = ({ files }: Settings) => files.map(({ path, found }) => ({ path, found }))

/** Of the model; none where no model is named, or none that there is. */
async function contextRow({ model, baseUrl }: Settings): Promise<readonly Row[]> {
  const provider = providerOf(model?.value, baseUrl?.value)
  if (provider === undefined) return []
  const { tokens, given } = await contextOf(provider, process.env)
  return [{ key: 'context', value: tokens, from: given ? 'MULLIGAN_CONTEXT' : 'default' }]
}

function providerOf(model: string | undefined, baseUrl: string | undefined): string | undefined {
  try {
    return chooseModel(model, baseUrl).provider
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}
