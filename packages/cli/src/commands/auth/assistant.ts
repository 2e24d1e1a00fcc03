/** Loads the package of the assistant's tools, which is optional to install. */
import { UsageError } from '@mulligan/host/light'

/** @throws UsageError if it is not installed */
export async function assistant(): Promise<typeof import('@mulligan/assistant')> {
  try {
    return await import('@mulligan/assistant')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UsageError('the package @mulligan/assistant is not installed', 'Install Mulligan with its optional dependencies.')
  }
}
