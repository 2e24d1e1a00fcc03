/**
 * Finds changes on a layer that are later run or loaded on the host itself, so only a person may keep them. Changes that git makes on its
 * own (a remote, branch settings, a new repository, a worktree) are recognised by their contents.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { type Change, type ConfigSetting, riskySettings, settingsIn } from '@mulligan/sandbox'
import type { Git } from '../../git/common/process.ts'
import { isInside, shown } from '../../workspace/paths.ts'
import type { Contents } from './change-set.ts'

const MAX_NAMED = 3
/** Bytes. Settings files are small. */
const MAX_SIZE = 1024 * 1024

/** Returns why only a person may decide, or undefined if a rule may. */
export async function protectedReason(root: string, changes: readonly Change[], contents: Contents, git: Git): Promise<string | undefined> {
  const found = await Promise.all(changes.map((change) => danger(root, change, contents, git)))
  const named = found.filter((one) => one !== undefined)
  if (named.length === 0) return undefined
  const more = named.length > MAX_NAMED ? `, and ${named.length - MAX_NAMED} more` : ''
  return `it ${named.slice(0, MAX_NAMED).join(', ')}${more}, which can make programs run outside of the sandbox`
}

/** Remaining steps of a stopped rebase, which git will run. */
const TODO = /(?:^|\/)\.git\/(?:.+\/)?rebase-(?:merge|apply)\/git-rebase-todo$/

async function danger(root: string, change: Change, contents: Contents, git: Git): Promise<string | undefined> {
  const { path, after } = change
  const changed = `changes ${path}`
  if (change.git && after?.type === 'link') return changed
  if (TODO.test(path)) {
    const text = (await textOf(change, contents))?.toString() ?? ''
    return /^\s*(?:x|exec)\s/m.test(text) ? `leaves commands in ${path}` : undefined
  }
  if (!change.protected) return undefined
  // On case-insensitive disks `.GIT` is the same folder, but git itself never spells it that way.
  const names = path.split('/')
  const at = names.lastIndexOf('.git')
  if (at === -1 || names.some((name) => name !== '.git' && name.toLowerCase() === '.git')) return changed
  const inner = names.slice(at + 1).join('/')
  if (SETTINGS.test(inner)) {
    const keys = await riskyKeys(change, contents, git)
    if (keys === undefined) return changed
    return keys.length === 0 ? undefined : `sets ${keys.slice(0, MAX_NAMED).join(', ')}${keys.length > MAX_NAMED ? ', …' : ''} in ${path}`
  }
  return (await isByGit(root, inner, change, contents)) ? undefined : changed
}

const SETTINGS = /^(?:config|config\.worktree|worktrees\/[^/]+\/config\.worktree|modules\/.+\/config)$/

/** True if git itself makes such a change when it creates or removes a repository or worktree. */
async function isByGit(root: string, inner: string, change: Change, contents: Contents): Promise<boolean> {
  const { path, before, after } = change
  const isNewFolder = after?.type === 'directory' && (before === undefined || before.type === 'directory')
  // The folder of a repository, or its hooks folder; their contents are checked separately.
  if (/^(?:|(?:modules\/.+\/)?hooks)$/.test(inner) && isNewFolder) return true
  // Sample hooks, which git does not run.
  if (/^(?:modules\/.+\/)?hooks\/[\w-]+\.sample$/.test(inner)) return true
  const isFile = (before === undefined || before.type === 'file') && (after === undefined || after.type === 'file')
  if (!isFile) return false
  const text = async (): Promise<string> => (await textOf(change, contents))?.toString().trim() ?? ''
  if (inner === '') return after === undefined || leadsToRepository(root, path, await text())
  if (/^worktrees\/[^/]+\/commondir$/.test(inner)) return after === undefined || (await text()) === '../..'
  if (/^worktrees\/[^/]+\/gitdir$/.test(inner)) return after === undefined || isGitFile(root, await text())
  return false
}

/** True for the `.git` file of a worktree or submodule if its `gitdir: …` leads to a folder whose settings are protected. */
function leadsToRepository(root: string, path: string, text: string): boolean {
  const [, named] = /^gitdir: (.+)$/.exec(text) ?? []
  if (named === undefined) return false
  const folder = resolve(root, dirname(path), named)
  return isInside(root, folder) && /(?:^|\/)\.git\/(?:worktrees|modules)\/[^/]/.test(shown(root, folder))
}

const isGitFile = (root: string, text: string): boolean => text.startsWith('/') && isInside(root, text) && basename(text) === '.git'

async function textOf({ path, after }: Change, contents: Contents): Promise<Buffer | undefined> {
  return after?.type === 'file' && after.size <= MAX_SIZE ? contents.after(path) : undefined
}

/** Returns the risky settings that changed. Undefined if the file is not an ordinary settings file both before and after. */
async function riskyKeys({ path, before, after }: Change, contents: Contents, git: Git): Promise<readonly string[] | undefined> {
  if ((before !== undefined && before.type !== 'file') || (after !== undefined && after.type !== 'file')) return undefined
  if (after === undefined) return path.includes('/worktrees/') ? [] : undefined
  if (after.size > MAX_SIZE || (before?.size ?? 0) > MAX_SIZE) return undefined
  const [old, now] = await Promise.all([
    before === undefined ? [] : settings(git, await contents.before(path)),
    settings(git, await contents.after(path)),
  ])
  return old && now && riskySettings(old, now)
}

/** Reads settings with git itself; includes are listed but not followed. */
async function settings(git: Git, bytes: Buffer): Promise<readonly ConfigSetting[] | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-git-'))
  try {
    const file = join(folder, 'config')
    await writeFile(file, bytes)
    const { code, stdout, cut } = await git(['config', '--file', file, '--no-includes', '--list', '-z'], { cwd: folder })
    return code === 0 && !cut ? settingsIn(stdout) : undefined
  } catch {
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
