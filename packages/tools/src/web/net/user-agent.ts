import { readFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { readonly version: string }

/** Who asks. */
export const USER_AGENT = `mulligan/${version}`
