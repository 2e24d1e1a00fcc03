import type { Repair } from '../repair.ts'

/** Whoever listens must not break what flows. */
export function tell(listener: ((repair: Repair) => void) | undefined, repair: Repair): void {
  try {
    listener?.(repair)
  } catch {
    // nobody is left to tell
  }
}
