/** Paths. Pure. */
import { sep } from 'node:path'

export const isWithin = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
