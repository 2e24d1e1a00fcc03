/** Small general-purpose helpers. Pure. */
import { sep } from 'node:path'

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Splits a list written as text. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Returns the result of `work`, or undefined if it throws. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
