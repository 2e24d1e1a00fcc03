/** `mulligan config get` prints one effective value, for scripts. */

import { safeJson, sanitize } from '@mulligan/host/light'
import { effectiveValue, readSettings } from '@mulligan/host/parts'
import { EXIT } from '../../exit.ts'
import { workingFolder } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'
import { askedKey } from './key.ts'
import type { ConfigFlags } from './show.ts'

/** @returns 1 where nothing is in force. @throws UsageError */
export async function getConfig(key: string, { cwd, json }: ConfigFlags, { out }: Output): Promise<number> {
  const { path } = askedKey(key)
  const value = effectiveValue(readSettings(workingFolder(cwd), {}, process.env), path)
  if (json) out(`${safeJson({ key, value: value ?? null })}\n`)
  else if (value !== undefined) out(`${typeof value === 'string' ? sanitize(value) : safeJson(value)}\n`)
  return value === undefined ? EXIT.failed : EXIT.ok
}
