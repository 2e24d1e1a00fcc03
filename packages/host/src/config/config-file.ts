/** Reads a configuration file. */
import type { Config } from './schema.ts'

export interface ConfigFile {
  readonly origin: 'project' | 'user'
  readonly path: string
  /** That the file is of: the project's root. Empty for the person's own. */
  readonly folder: string
  /** For the person. */
  readonly shown: string
  readonly found: boolean
  readonly values: Config
}
