/** `mulligan doctor` checks the setup and says what to install. */

import { oneLine, safeJson, sanitize } from '@mulligan/host/light'
import { readSettings, sandboxOptions } from '@mulligan/host/parts'
import { EXIT } from '../../exit.ts'
import { workingFolder } from '../../paths.ts'
import { type Colors, colorsFor } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'
import { data, git, model, node, ripgrepCheck } from './around.ts'
import type { Check } from './check.ts'
import { probeSandbox, sandboxChecks } from './sandbox.ts'

export interface DoctorFlags {
  readonly cwd?: string
  readonly json?: boolean
}

/** @returns 1 where something is missing that is needed. @throws UsageError when a configuration file is wrong */
export async function doctor(flags: DoctorFlags, { out }: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  const settings = readSettings(cwd, {}, process.env)
  const options = sandboxOptions(settings.sandbox, cwd, process.env)
  const [sandbox, ...around] = await Promise.all([probeSandbox(options), node(), ripgrepCheck(), git(cwd), model(settings), data()])
  const checks = [...around, ...sandboxChecks(sandbox, options.backend ?? 'auto')]
  const isUsable = checks.every(({ state }) => state !== 'missing')
  if (flags.json) out(`${safeJson({ usable: isUsable, checks, sandbox })}\n`)
  else out(`${checks.flatMap((check) => linesOf(check, colorsFor(process.stdout))).join('\n')}\n`)
  return isUsable ? EXIT.ok : EXIT.failed
}

const WIDTH = 10

function linesOf({ name, state, says, remedy, rows = [] }: Check, { green, yellow, red, dim }: Colors): string[] {
  const mark = { ok: green('✓'), lacking: yellow('!'), missing: red('✗'), unused: dim('-') }[state]
  const indent = ' '.repeat(WIDTH + 3)
  return [
    `${mark} ${name.padEnd(WIDTH)} ${oneLine(says, 300)}`,
    ...table(rows.map((row) => row.map((cell) => oneLine(cell, 120)))).map((line) => `${indent}${line}`),
    ...(remedy === undefined
      ? []
      : sanitize(remedy)
          .split('\n')
          .map((line) => `${indent}${dim(line)}`)),
  ]
}
