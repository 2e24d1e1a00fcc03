import { isTooDeep } from '../canonical.ts'

/** Undefined for what is not valid JSON, and for what is nested too deep to be written again. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isTooDeep(value) ? undefined : value
  } catch {
    return undefined
  }
}
