/** Paths as git gives them and as the model sees them. Pure. */
import { posix } from 'node:path'

/** In quotes where a newline, a quote or another sign would make it look like something else. */
export const quoted = (path: string): string => (/[\0-\x1f\x7f-\x9f"\\]|^ | $|^$/.test(path) ? JSON.stringify(path) : path)

/**
 * From a path below the top of the working tree to one from the workspace.
 *
 * @param folder the folder that git was called in, from the workspace
 * @param prefix the same folder, from the top; ends with a slash, or empty
 */
export function fromWorkspace(path: string, folder: string, prefix: string): string {
  const inner = path.startsWith(prefix) ? path.slice(prefix.length) : posix.relative(prefix, path)
  const whole = folder === '.' ? inner : posix.join(folder, inner)
  // git writes a nested repository with a slash at its end.
  return path.endsWith('/') && !whole.endsWith('/') ? `${whole}/` : whole
}
