import { UsageError } from '../exit.ts'
import type { Env } from './provider.ts'

/** @throws UsageError that names the variable */
export function requiredKey(env: Env, variable: string, provider: string): string {
  const key = env[variable]?.trim()
  if (!key) throw new UsageError(`${provider} needs a key, and ${variable} is not set`, `export ${variable}=…`)
  return key
}
