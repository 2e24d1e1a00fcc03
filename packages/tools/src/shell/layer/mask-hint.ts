/** Said to who ran into a secret file that commands see empty. Pure. */
import { basename } from 'node:path'

export interface Masked {
  readonly script: string
  /** What it printed. */
  readonly output: string
  readonly failed: boolean
  /** Secret files, as paths from the workspace. */
  readonly masks: readonly string[]
  /** Those that commands may read already. */
  readonly readable: readonly string[]
}

const MAX_NAMED = 5
/** Programs read these by themselves, and so name them neither in the command nor in a complaint. */
const ENVIRONMENT = /^\.env(?:\..+)?$|^\.envrc$/

/** @returns a sentence that names the files, and how a person allows them; undefined where they were not in the way */
export function maskHint({ script, output, failed, masks, readable }: Masked): string | undefined {
  const named = masks.filter((path) => {
    const name = basename(path)
    return mentions(script, name) || (failed && (mentions(output, name) || (ENVIRONMENT.test(name) && !path.includes('/'))))
  })
  if (named.length === 0) return undefined
  const more = named.length > MAX_NAMED ? ` and ${named.length - MAX_NAMED} more` : ''
  const allowed = JSON.stringify([...readable, ...named.slice(0, MAX_NAMED)])
  return `${named.slice(0, MAX_NAMED).join(', ')}${more}: commands see secret files empty. If it needs the contents, a person can allow them: mulligan config set sandbox.readable '${allowed.replaceAll("'", "'\\''")}'.`
}

/** As a name of its own, or at the end of a path. */
const mentions = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}(?![\\w-]|\\.\\w)`).test(text)
