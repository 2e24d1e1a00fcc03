/** What a configuration file says. */
import type { Config } from './schema.ts'

export interface ConfigFile {
  readonly origin: 'project' | 'user'
  readonly path: string
  /** For the person. */
  readonly shown: string
  readonly found: boolean
  readonly values: Config
}
