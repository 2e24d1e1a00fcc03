/** Sets up workspaces with layers over them, as the current user. Also reads trees and applies change sets, for comparison. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Changed,
  type ChangeSet,
  type Command,
  CommandError,
  type Completed,
  createSandbox,
  type Sandbox,
  type SandboxOptions,
} from '../index.ts'

export interface LayerBench {
  /** Creates a workspace with these files: text is the content, `-> ` starts a link, and a name that ends with `/` is a folder. */
  readonly workspace: (files: Readonly<Record<string, string>>, name?: string) => string
  readonly open: (workspace: string, options?: Partial<SandboxOptions>) => Promise<Sandbox>
  readonly stateFolder: string
  readonly base: string
  /** Whether commands run as root on the host. */
  readonly isRoots: boolean
  readonly close: () => Promise<void>
}

export interface LayerCheck {
  readonly name: string
  readonly run: (bench: LayerBench) => Promise<void>
}

/** @param owner the owner of the workspaces; default: our own user */
export function createLayerBench(owner?: number): LayerBench {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'mulligan-layers-'))
  chmodSync(base, 0o755)
  const stateFolder = join(base, 'state')
  const opened: Sandbox[] = []
  let made = 0
  const give = (path: string) => owner !== undefined && lchownSync(path, owner, owner)
  return {
    base,
    stateFolder,
    isRoots: process.getuid?.() === 0 && !owner,
    workspace: (files, name = 'project') => {
      const root = join(base, String(made++), name)
      mkdirSync(root, { recursive: true })
      give(root)
      for (const [path, content] of Object.entries(files)) {
        const whole = join(root, path)
        for (const folder of path
          .split('/')
          .slice(0, -1)
          .map((_, at, all) => join(root, ...all.slice(0, at + 1)))) {
          mkdirSync(folder, { recursive: true })
          give(folder)
        }
        if (path.endsWith('/')) mkdirSync(whole, { recursive: true })
        else if (content.startsWith('-> ')) symlinkSync(content.slice(3), whole)
        else writeFileSync(whole, content)
        give(whole.replace(/\/$/, ''))
      }
      return root
    },
    open: async (workspace, options = {}) => {
      const sandbox = await createSandbox({ workspace, backend: 'bubblewrap', stateFolder, ...options })
      opened.push(sandbox)
      return sandbox
    },
    close: async () => {
      for (const sandbox of opened) await sandbox.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** Resolves for any outcome. */
export const ended = (running: Promise<Completed>): Promise<Completed> =>
  running.catch((error: unknown) => {
    if (error instanceof CommandError) return error.completed
    throw error
  })

/** Lists the kind and path of each change, without empty folders that the sandbox itself created in the workspace. */
export const told = ({ changes }: ChangeSet): readonly string[] => changes.map(({ kind, path }) => `${kind} ${path}`)

export const script = (text: string): Command => ({ script: text })

/** Returns paths with their type, mode and content. */
export function treeOf(root: string, folder = ''): Readonly<Record<string, string>> {
  const tree: Record<string, string> = {}
  for (const name of readdirSync(join(root, folder)).sort()) {
    const path = folder === '' ? name : `${folder}/${name}`
    const whole = join(root, path)
    const found = lstatSync(whole)
    const mode = (found.mode & 0o3777).toString(8)
    if (found.isSymbolicLink()) tree[path] = `-> ${readlinkSync(whole)}`
    else if (found.isDirectory()) Object.assign(tree, { [path]: `folder ${mode}` }, treeOf(root, path))
    else if (found.isFile()) tree[path] = `file ${mode} ${createHash('sha256').update(readFileSync(whole)).digest('hex').slice(0, 12)}`
    else tree[path] = 'special'
  }
  return tree
}

/** Applies changes as a caller does on a keep, but without its safety checks: removes first, inner paths before outer ones. */
export async function applyTo(target: string, layer: Pick<Changed, 'open'>, { changes }: ChangeSet): Promise<void> {
  for (const { path, before, after } of changes.toReversed()) {
    if (path === '.' || !before || before.type === after?.type) continue
    rmSync(join(target, path), { recursive: true })
  }
  for (const { path, before, after } of changes) {
    if (path === '.' || !after) continue
    const whole = join(target, path)
    if (after.type === 'link') {
      rmSync(whole, { force: true })
      symlinkSync(after.target, whole)
    } else if (after.type === 'directory') {
      if (before?.type !== 'directory') mkdirSync(whole)
    } else if (after.type === 'file') {
      const file = await layer.open(path)
      rmSync(whole, { force: true })
      writeFileSync(whole, await file.readFile())
      await file.close()
    }
    if (after.type === 'directory' || after.type === 'file') chmodSync(whole, after.mode)
  }
}

export const giveTree = (path: string, uid: number): void => {
  lchownSync(path, uid, uid)
  if (!lstatSync(path).isDirectory()) return
  for (const name of readdirSync(path)) giveTree(join(path, name), uid)
}
