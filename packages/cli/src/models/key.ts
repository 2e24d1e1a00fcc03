import { UsageError } from '../exit.ts'
import type { ModelRequest } from './provider.ts'

/** @throws UsageError that names the variable */
export function requiredKey({ env, name, baseUrl }: ModelRequest, variable: string, provider: string): string {
  const key = env[variable]?.trim()
  if (key) return key
  // Models of other servers have names like openai/gpt-oss-20b too.
  const other = baseUrl === undefined ? '' : `  or, for another server: --model openai-compatible/${provider}/${name}`
  throw new UsageError(`${provider} needs a key, and ${variable} is not set`, `export ${variable}=…${other}`)
}
