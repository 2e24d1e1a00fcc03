import { hasNothingToRedact } from '@mulligan/core/adapter'

/** Whether what the SDK tells the model about an exception contains nothing to hide. */
export function isHarmlessText(thrown: unknown): boolean {
  try {
    return thrown instanceof Error
      ? [thrown.toString(), thrown.message].every((text) => hasNothingToRedact(text))
      : hasNothingToRedact(thrown)
  } catch {
    return false
  }
}
