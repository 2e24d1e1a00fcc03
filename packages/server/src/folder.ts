/** The folders of sessions. */
import { realpathSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { ApiError } from './errors.ts'

/** Returns the folder's real path. @throws ApiError */
export function folderOf(cwd: string): string {
  if (!isAbsolute(cwd) || cwd.includes('\0')) throw new ApiError(422, 'validation', 'cwd must be an absolute path')
  const found = statSync(cwd, { throwIfNoEntry: false })
  if (!found?.isDirectory()) throw new ApiError(422, 'validation', `${cwd} is not a folder on the server`)
  return realpathSync(cwd)
}
