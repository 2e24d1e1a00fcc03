import { isTooDeep } from '../canonical.ts'

/** The object or list that a text is; undefined for any other text. */
export function tryJson(text: string): unknown {
  try {
    const parsed: unknown = /^\s*[[{]/.test(text) ? JSON.parse(text) : undefined
    return isTooDeep(parsed) ? undefined : parsed
  } catch {
    return undefined
  }
}
