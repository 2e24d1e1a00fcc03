/**
 * The include glob for ripgrep. `--glob` would also let in what is hidden or ignored (it overrides both: `**\/*` walks
 * `.git` and `node_modules`), so the glob goes in as an ignore file of the lowest rank: ignore all but this.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function withOnly<T>(include: string | undefined, prefix: string, use: (args: readonly string[]) => Promise<T>): Promise<T> {
  if (include === undefined) return use([])
  const dir = await mkdtemp(join(tmpdir(), 'mulligan-'))
  try {
    const file = join(dir, 'only')
    await writeFile(file, onlyRules(include, prefix))
    return await use(['--ignore-file', file])
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/**
 * The rules, read from the folder searched. A glob with a slash counts from there and from the workspace (models write
 * either), so one that may begin above the folder narrows nothing here: what does not match is passed over afterwards.
 *
 * A glob that names something hidden lets hidden things in, but never `.git`.
 */
export function onlyRules(include: string, prefix: string): string {
  const glob = include.replace(/^\.?\//, '').replace(/[\r\n]/g, '?')
  const hidden = /(?:^|\/)\./.test(glob) ? '.git/' : '.*'
  if (!glob.includes('/') || prefix === '') return `*\n!*/\n!${glob}\n${hidden}\n`
  if (glob.startsWith(prefix)) return `*\n!*/\n!/${glob.slice(prefix.length)}\n!${glob}\n${hidden}\n`
  const first = glob.slice(0, glob.indexOf('/'))
  return /[*?[{\\]/.test(first) ? `${hidden === '.*' ? '' : '!*\n'}${hidden}\n` : `*\n!*/\n!${glob}\n${hidden}\n`
}
