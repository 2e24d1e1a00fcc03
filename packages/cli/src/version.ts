/** The version of the package that is installed. */
import { readFileSync } from 'node:fs'

export const version = (): string =>
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }).version
