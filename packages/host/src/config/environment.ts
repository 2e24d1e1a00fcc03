/** Reads settings from the environment: `MULLIGAN_LIMITS_REQUESTS` sets `limits.requests`. */

import type { Env } from '../common/env.ts'
import { UsageError } from '../common/errors.ts'
import { oneLine } from '../common/sanitize.ts'
import { faultAt } from './check.ts'
import { configJsonSchema } from './json-schema.ts'
import { type ConfigKey, keysIn } from './keys.ts'
import { type Config, configSchema } from './schema.ts'
import { withValue } from './value-at.ts'

export interface Environment {
  readonly values: Config
  /** Returns the variable that a key comes from. */
  readonly from: (key: string) => string
}

/** Variables that do not set keys. If no others are set, the schema with all keys is not built. */
const OTHERS: ReadonlySet<string> = new Set(
  ['API_KEY', 'CONFIG', 'CONTEXT', 'DATA_DIR', 'DEBUG', 'LLAMACPP_URL', 'LMSTUDIO_URL', 'VLLM_URL'].map((name) => `MULLIGAN_${name}`),
)

/** Reads the environment. Empty variables count as unset. @throws UsageError that names the variable */
export function environment(env: Env): Environment {
  if (!Object.keys(env).some((name) => name.startsWith('MULLIGAN_') && !OTHERS.has(name))) return { values: {}, from: () => '' }
  const from = new Map<string, string>()
  let values: unknown = {}
  for (const key of keysIn(configJsonSchema())) {
    const variable = key.variables.find((name) => env[name])
    if (variable === undefined) continue
    values = withValue(values, key.path, valueFor(key, variable, env[variable] ?? ''))
    from.set(key.key, variable)
  }
  return { values: values as Config, from: (key) => from.get(key) ?? '' }
}

function valueFor({ path, node }: ConfigKey, variable: string, text: string): unknown {
  const readings = readingsOf(text)
  const value = readings.find((one) => faultAt(configSchema(), path, one) === undefined)
  if (value !== undefined) return value
  const fault = node.enum ? `it may be ${node.enum.join(', ')}` : (faultAt(configSchema(), path, readings.at(-1)) ?? '')
  throw new UsageError(`${variable}=${oneLine(text, 40)}: ${oneLine(fault, 200)}`, `Correct it, or unset ${variable}.`)
}

const NUMBER = /^-?\d+(?:\.\d+)?(?:e\d+)?$/i

/** Returns the text, and the number that it may represent. */
export const readingsOf = (text: string): readonly (string | number)[] => [text, ...(NUMBER.test(text.trim()) ? [Number(text)] : [])]
