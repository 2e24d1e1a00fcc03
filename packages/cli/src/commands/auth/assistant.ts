/** Loads the package of the assistant's tools, which is optional to install. */
import { UsageError } from '@mulligan/host/light'
import { optionalAssistant } from '@mulligan/host/parts'

/** @throws UsageError if it is not installed */
export async function assistant(): Promise<typeof import('@mulligan/assistant')> {
  const found = await optionalAssistant()
  if (found) return found
  throw new UsageError('the package @mulligan/assistant is not installed', 'Install Mulligan with its optional dependencies.')
}
