/** Loads the package of the assistant's tools, which is optional to install. Returns undefined if it is not. */
export async function optionalAssistant(): Promise<typeof import('@mulligan/assistant') | undefined> {
  try {
    return await import('@mulligan/assistant')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
