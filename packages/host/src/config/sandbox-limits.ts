/** Limits of a command, in the form used in a configuration file. */
import { checkLimit, type Limits, parseSize } from '@mulligan/sandbox'

/** Keyed by the names of the settings. */
export const SANDBOX_LIMITS = {
  memory: 'memory',
  cpus: 'cpus',
  pids: 'processes',
  timeout: 'timeout',
  output: 'output',
  disk: 'disk',
} as const satisfies Readonly<Record<string, keyof Limits>>
export type SandboxLimit = keyof typeof SANDBOX_LIMITS

export const isSize = (key: string): boolean => key === 'memory' || key === 'output' || key === 'disk'
export const isLimit = (key: string): key is SandboxLimit => Object.hasOwn(SANDBOX_LIMITS, key)

export const numberOf = (value: string | number): number => (typeof value === 'number' ? value : parseSize(value))

/** Explains why a value is not valid for a limit. Sizes may have a unit. */
export function limitFault(key: SandboxLimit, value: unknown): string | undefined {
  if (typeof value !== 'number' && !(isSize(key) && typeof value === 'string'))
    return isSize(key) ? 'a size such as "512m" or "2g"' : 'a number'
  try {
    checkLimit(SANDBOX_LIMITS[key], numberOf(value))
    return undefined
  } catch (error) {
    return (error as RangeError).message
  }
}
