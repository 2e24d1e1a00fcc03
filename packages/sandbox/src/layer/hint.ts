/** What in a layer is not as it is in the workspace itself, said to who runs into it. */
import type { Completed } from '../command.ts'

/** Of a command's output: why a folder could not be renamed; undefined if that was not it. Pure. */
export const layerHint = ({ stderr, stdout }: Pick<Completed, 'stderr' | 'stdout'>): string | undefined =>
  /\bEXDEV\b|cross-device link/i.test(`${stderr}\n${stdout}`)
    ? 'A folder of the workspace can not be renamed while its changes are kept apart (EXDEV): an overlay with userxattr has no redirect_dir. `mv` copies it instead; from a program, copy it and delete the old one.'
    : undefined
