/** Runs commands on throwaway layers. They run immediately; their changes wait until they are kept or discarded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ModelRetry, ToolFailure } from '@mulligan/core'
import type { ProposedChanges } from '@mulligan/core/executor'
import type { Change, Command, Completed, KeptIgnored, Layer, LayerError, PrivateLayer } from '@mulligan/sandbox'
import { isIndex, saySame } from '../../changes/git-index.ts'
import { createGit } from '../../git/common/process.ts'
import { sha256 } from '../../sha256.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { isCommandError, type SessionSandbox } from '../common/sandbox.ts'
import { type Contents, diffOf, keepable, summaryOf, targetsOf, toLayerChanges, withoutRefreshedIndexes } from './change-set.ts'
import { protectedReason } from './protected.ts'
import { ignoredBy, named, secretPaths } from './secrets.ts'

export type ShellLayers = ReturnType<typeof createLayers>

/** Changes that the session's commands made in ignored files. Later commands see them; the workspace does not. */
export interface IgnoredChanges {
  /** Outermost paths, such as `dist` or `node_modules/.cache`. */
  readonly changed: () => Promise<readonly string[]>
  /**
   * Copies them to the workspace in bulk. `undo` does not revert this.
   * @returns sentences that describe what was kept
   */
  readonly keep: () => Promise<readonly string[]>
}

interface Ran {
  readonly completed: Completed
  /** The command's changes. Undefined if only ignored files changed. */
  readonly changes: ProposedChanges | undefined
  /** Sentences for the model: what cannot be kept, and where the rest is. */
  readonly notes: readonly string[]
}

interface Waiting {
  readonly layer: Pick<Layer, 'open' | 'keepIgnored' | 'discard'>
  /** Lets the layer outlive this process. */
  readonly park?: () => Promise<unknown>
  readonly hash: string
  readonly kept: readonly Change[]
  /** Contents of git's index files in the workspace, by path. */
  readonly indexes: ReadonlyMap<string, Buffer>
  readonly hasIgnored: boolean
}

interface Options {
  readonly workspace: Workspace
  readonly sandbox: SessionSandbox
  /** Secret files that commands may read, as paths relative to the workspace. Default: none. */
  readonly readable?: readonly string[]
}

export function createLayers({ workspace, sandbox, readable = [] }: Options) {
  const { root } = workspace
  const git = createGit(root)
  const waiting = new Map<string, Waiting>()
  let masks: Promise<readonly string[]> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let hasRun = false

  /** Serialises work, because the layers of one session share the folders below them. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }

  const memoizedSecrets = (signal?: AbortSignal): Promise<readonly string[]> => {
    masks ??= secretPaths(root, git, readable, signal).catch((error: unknown) => {
      masks = undefined
      throw error
    })
    return masks
  }

  /** Returns the session's private layer. Before the first command it is empty, so no sandbox is opened just to check it. */
  async function privateLayer(): Promise<PrivateLayer | undefined> {
    return hasRun ? (await sandbox.get()).privateLayer({ masks: await memoizedSecrets() }) : undefined
  }

  async function run(command: Command): Promise<Ran> {
    const opened = await sandbox.get()
    hasRun = true
    const layer = await opened.openLayer({ masks: await memoizedSecrets(command.signal), ignored: ignoredBy(git, root) })
    let isWaiting = false
    try {
      const completed = await layer.run(command).catch((error: unknown) => {
        if (isCommandError(error)) return error.completed
        throw error
      })
      if (completed.reason !== 'exit' && completed.reason !== 'signal')
        return { completed, changes: undefined, notes: ['It was cut off, so none of its changes were kept.'] }
      const set = await layer.changes().catch(tooFull)
      await layer.keepIgnored()
      const contents: Contents = {
        before: (path) => readFile(join(root, path)),
        after: async (path) => {
          await using file = await layer.open(path)
          return file.readFile()
        },
      }
      const { kept: all, left } = keepable(set)
      const kept = await withoutRefreshedIndexes(all, contents)
      const notes = [...ignoredNote(set.ignored), ...leftNote(left)]
      if (kept.length === 0) return { completed, changes: undefined, notes }
      const diff = await diffOf(kept, contents)
      const forced = await protectedReason(root, kept, contents, git)
      const indexes = kept.filter(({ path, before }) => isIndex(path) && before?.type === 'file').map(({ path }) => path)
      const held = await Promise.all(indexes.map(async (path) => [path, await contents.before(path)] as const))
      const park = (): Promise<unknown> => layer.wait(summaryOf(kept))
      waiting.set(layer.id, { layer, park, hash: set.hash, kept, indexes: new Map(held), hasIgnored: set.ignored.length > 0 })
      isWaiting = true
      const changes: ProposedChanges = {
        id: layer.id,
        hash: set.hash,
        targets: targetsOf(kept),
        summary: summaryOf(kept),
        diff,
        ...(forced !== undefined && { forced }),
      }
      return { completed, changes, notes }
    } finally {
      if (!isWaiting) await layer.discard().catch(() => undefined)
    }
  }

  /** Removes and returns the waiting changes, whatever happens to them next. */
  async function take({ id, hash }: ProposedChanges): Promise<Waiting | undefined> {
    const found = waiting.get(id) ?? (await ofEarlierProcess(id))
    waiting.delete(id)
    return found?.hash === hash ? found : undefined
  }

  /** Reads the changes of a layer that was parked. They have the hash of their contents as they are now. */
  async function ofEarlierProcess(id: string): Promise<Waiting | undefined> {
    const layer = await (await sandbox.get()).waitingLayer(id)
    const set = await layer?.changes()
    return layer && set && { layer, hash: set.hash, kept: keepable(set).kept, indexes: new Map(), hasIgnored: set.ignored.length > 0 }
  }

  const keep = async (changes: ProposedChanges, callId: string): Promise<readonly string[]> => {
    const found = await take(changes)
    if (!found) throw gone()
    const { layer, kept, indexes, hasIgnored } = found
    try {
      const now = await Promise.all(kept.map((change) => withIndex(root, change, indexes.get(change.path))))
      await workspace.changes.adopt(callId, layer.open, toLayerChanges(now))
      // Picks up ignored files in folders that did not exist in the workspace before.
      if (hasIgnored) await layer.keepIgnored().catch(() => undefined)
      return [`Kept: ${changes.summary}.`]
    } finally {
      await layer.discard().catch(() => undefined)
    }
  }
  const ignored: IgnoredChanges = {
    changed: () => alone(async () => (await privateLayer())?.changed() ?? []),
    keep: () => alone(async () => keptText((await (await privateLayer())?.keep()) ?? { kept: [], left: [] })),
  }

  return {
    /**
     * Tells whether layers are available here.
     * @throws SandboxError
     */
    areThere: async () => (await (await sandbox.get()).layers()).hold === 'overlay',
    /** `masks`: secret files, as paths relative to the workspace, that commands see as empty. `readable`: secret files they may read. */
    masks: memoizedSecrets,
    readable,
    /**
     * Runs one command at a time.
     * @throws whatever the sandbox throws, except for a failed command; ToolFailure if the layer is too full
     */
    run: (command: Command) => alone(() => run(command)),
    /**
     * Applies the waiting changes to the workspace.
     * @returns sentences for the model
     * @throws ModelRetry (conflict), also if the layer no longer exists
     */
    keep: (changes: ProposedChanges, callId: string) => alone(() => keep(changes, callId)),
    discard: (changes: ProposedChanges) => alone(async () => (await take(changes))?.layer.discard()),
    /** Lets the changes outlive this process. */
    park: (changes: ProposedChanges) => alone(async () => void (await waiting.get(changes.id)?.park?.())),
    ignored,
  }
}

/** The error for a layer that was discarded or that belonged to a process which has ended. */
const gone = (): ModelRetry =>
  new ModelRetry("The command's changes no longer exist, so nothing was kept. Run the same command again.", {
    errorType: 'conflict',
    parameter: 'command',
    constraint: 'changes that still wait for a decision',
  })

/** Accepts an index that another git process has meanwhile rewritten without changing its meaning. */
async function withIndex(root: string, change: Change, was: Buffer | undefined): Promise<Change> {
  const { path, before } = change
  if (was === undefined || before?.type !== 'file') return change
  const is = await readFile(join(root, path)).catch(() => undefined)
  return is && saySame(is, was) ? { ...change, before: { ...before, size: is.length, sha256: sha256(is) } } : change
}

const ignoredNote = (paths: readonly string[]): readonly string[] =>
  paths.length === 0 ? [] : [`Git ignores ${named(paths)}: later commands of this session see these changes, the workspace does not.`]

function keptText({ kept, left }: KeptIgnored): readonly string[] {
  const why = Map.groupBy(left, (one) => one.why)
  return [
    ...(kept.length === 0 ? [] : [`Kept ${named(kept)}, which git ignores; undo does not revert this.`]),
    ...[...why].map(([reason, some]) => `Not kept: ${named(some.map(({ path }) => path))} (${reason}).`),
  ]
}

const leftNote = (left: readonly Change[]): readonly string[] =>
  left.length === 0
    ? []
    : [`Can't be kept: ${named(left.map(({ path, unsupported = 'it can not be read' }) => `${path} (${unsupported})`))}.`]

function tooFull(error: unknown): never {
  const { name, message, remedy } = error as LayerError
  if (name !== 'LayerError') throw error
  throw new ToolFailure(`The command's changes were not kept: ${message}.${remedy === undefined ? '' : ` ${remedy}`}`, {
    errorType: 'sandbox',
  })
}
