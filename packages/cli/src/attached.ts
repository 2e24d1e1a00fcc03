/** The images of `--image`, which are sent with the first message, or nothing is. */
import type { AgentModel, PromptImage } from '@mulligan/agent'
import { oneLine, UsageError } from '@mulligan/host/light'
import { readAttached } from '@mulligan/host/parts'

/** Reads them relative to the folder of the shell, not that of `--cwd`. @throws UsageError for one that can't be sent */
export const attachedImages = (paths: readonly string[] = []): readonly PromptImage[] =>
  paths.length === 0 ? [] : readAttached(process.cwd(), paths)

/** @throws UsageError if the model is known to take no images */
export function checkTakesImages({ id, images }: Pick<AgentModel, 'id' | 'images'>, attached: readonly PromptImage[]): void {
  if (attached.length > 0 && images === false)
    throw new UsageError(
      `${oneLine(id, 120)} takes no images`,
      'Name a model that does with --model. If this one does, set `images` for it.',
    )
}
