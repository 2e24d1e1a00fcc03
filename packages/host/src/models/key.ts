import { UsageError } from '../common/errors.ts'
import { CLOUDS } from './clouds.ts'
import type { ModelRequest } from './provider.ts'

/**
 * @param also what another variable holds that will do
 * @throws UsageError that names the variable and where to get a key
 */
export function requiredKey({ env, name, baseUrl }: ModelRequest, variable: string, provider: keyof typeof CLOUDS, also?: string): string {
  const key = env[variable]?.trim() || also?.trim()
  if (key) return key
  // Models of other servers have names like openai/gpt-oss-20b too.
  const other = baseUrl === undefined ? '' : `  or, for another server: --model openai-compatible/${provider}/${name}`
  throw new UsageError(
    `${provider} needs a key, and ${variable} is not set`,
    `export ${variable}=…  from ${CLOUDS[provider].keysAt}${other}`,
  )
}
