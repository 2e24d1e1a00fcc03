/**
 * The include glob for ripgrep. `--glob` would also let in what is hidden or ignored (it overrides both: `**\/*` walks
 * `.git` and `node_modules`), so the glob goes in as an ignore file of the lowest rank: ignore all but this.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export async function withOnly<T>(include: string | undefined, folder: string, use: (args: readonly string[]) => Promise<T>): Promise<T> {
  if (include === undefined) return use([])
  const dir = await mkdtemp(join(tmpdir(), 'mulligan-'))
  try {
    const file = join(dir, 'only')
    await writeFile(file, onlyRules(include, folder))
    return await use(['--ignore-file', file])
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/**
 * A glob that names something hidden lets hidden things in, but never `.git`. One with a slash counts from the workspace
 * and from the folder searched: models write either.
 */
export function onlyRules(include: string, folder: string): string {
  const glob = include.replace(/^\.?\//, '').replace(/[\r\n]/g, '?')
  const inner = glob.includes('/') && folder !== '' ? `!${folder}/${glob}\n` : ''
  const hidden = /(?:^|\/)\./.test(glob) ? '.git/' : '.*'
  return `*\n!*/\n!${glob}\n${inner}${hidden}\n`
}
