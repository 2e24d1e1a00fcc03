/** `mulligan sandbox pull`: the image of the container backends, which no command pulls by itself. */

import { oneLine, sanitize } from '@mulligan/host/light'
import { readSettings } from '@mulligan/host/parts'
import { EXIT } from '../../exit.ts'
import { watchInterrupts } from '../../interrupt.ts'
import { workingFolder } from '../../paths.ts'
import type { Output } from '../../ui/output.ts'
import { SANDBOX_EXIT } from './run.ts'

export interface PullFlags {
  readonly backend?: 'docker' | 'podman'
  readonly cwd?: string
}

/** @returns 125 where no engine is there, or it could not get the image */
export async function sandboxPull(image: string | undefined, { backend, cwd }: PullFlags, { out, err }: Output): Promise<number> {
  const { sandbox } = readSettings(workingFolder(cwd), {}, process.env)
  const { DEFAULT_IMAGE, pullImage, SandboxError } = await import('@mulligan/sandbox')
  const name = image ?? sandbox.image?.value ?? DEFAULT_IMAGE
  const interrupt = watchInterrupts(() => undefined)
  try {
    await pullImage(name, { ...(backend && { backend }), signal: interrupt.signal, onProgress: (line) => err(`${oneLine(line)}\n`) })
    out(`${sanitize(name)} is here.\n`)
    return EXIT.ok
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.cancelled
    if (!(error instanceof SandboxError)) throw error
    err(`mulligan: ${sanitize(error.message)}\n${error.remedy === undefined ? '' : `${sanitize(error.remedy)}\n`}`)
    return SANDBOX_EXIT.sandbox
  } finally {
    interrupt.dispose()
  }
}
