/** Commands on throwaway layers: they run at once, and what they did waits until it is kept or discarded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ModelRetry, type ProposedChanges, ToolFailure } from '@mulligan/core'
import type { Change, Command, Completed, KeptIgnored, Layer, LayerError, PrivateLayer } from '@mulligan/sandbox'
import { isIndex, saySame } from '../../changes/git-index.ts'
import { createGit } from '../../git/common/process.ts'
import { sha256 } from '../../sha256.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { isCommandError } from '../common/faults.ts'
import type { SessionSandbox } from '../common/sandbox.ts'
import { type Contents, diffOf, keepable, summaryOf, targetsOf, toLayerChanges, withoutRefreshedIndexes } from './change-set.ts'
import { ignoredBy } from './ignored.ts'
import { protectedReason } from './protected.ts'
import { secretPaths } from './secrets.ts'

export interface LayersOptions {
  readonly workspace: Workspace
  readonly sandbox: SessionSandbox
  /** Secret files, as paths from the workspace, that commands may read. Default: none. */
  readonly readable?: readonly string[]
}

export interface RanOnLayer {
  readonly completed: Completed
  /** What it did; undefined where nothing but ignored files changed. */
  readonly changes: ProposedChanges | undefined
  /** Sentences for the model: what of it could never be kept, and where the rest is. */
  readonly notes: readonly string[]
}

export interface ShellLayers {
  /** Whether layers can be had here. @throws SandboxError */
  readonly areThere: () => Promise<boolean>
  /** Secret files, as paths from the workspace, which commands see empty. */
  readonly masks: (signal?: AbortSignal) => Promise<readonly string[]>
  /** Secret files that commands may read all the same. */
  readonly readable: readonly string[]
  /** One at a time. @throws what the sandbox throws, but not for a command that failed; ToolFailure where the layer is too full */
  readonly run: (command: Command) => Promise<RanOnLayer>
  /** @returns sentences for the model. @throws ModelRetry (conflict); ToolFailure where the layer is not there any more */
  readonly keep: (changes: ProposedChanges, callId: string) => Promise<readonly string[]>
  readonly discard: (changes: ProposedChanges) => Promise<void>
  readonly ignored: IgnoredChanges
}

/** Changes that commands of the session made in ignored files, which later commands see and the workspace does not. */
export interface IgnoredChanges {
  /** The outermost paths, such as `dist` or `node_modules/.cache`. */
  readonly changed: () => Promise<readonly string[]>
  /** Brings them to the workspace, in bulk: `undo` does not take this back. @returns sentences that say what was kept */
  readonly keep: () => Promise<readonly string[]>
}

interface Waiting {
  readonly layer: Layer
  readonly hash: string
  readonly kept: readonly Change[]
  /** Git's index as it was in the workspace, by path. */
  readonly indexes: ReadonlyMap<string, Buffer>
  readonly hasIgnored: boolean
}

export function createLayers({ workspace, sandbox, readable = [] }: LayersOptions): ShellLayers {
  const { root } = workspace
  const git = createGit(root)
  const waiting = new Map<string, Waiting>()
  let masks: Promise<readonly string[]> | undefined
  let last: Promise<unknown> = Promise.resolve()
  let hasRun = false

  /** Layers of one session share what is below them. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }

  const memoizedSecrets = (signal: AbortSignal | undefined): Promise<readonly string[]> => {
    masks ??= secretPaths(root, git, readable, signal).catch((error: unknown) => {
      masks = undefined
      throw error
    })
    return masks
  }

  /** Without a command there is nothing in it, and no sandbox is opened to see that. */
  async function privateLayer(): Promise<PrivateLayer | undefined> {
    return hasRun ? (await sandbox.get()).privateLayer({ masks: await memoizedSecrets(undefined) }) : undefined
  }

  async function run(command: Command): Promise<RanOnLayer> {
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
        return { completed, changes: undefined, notes: ['It was cut off, so nothing that it changed was kept.'] }
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
      waiting.set(layer.id, { layer, hash: set.hash, kept, indexes: new Map(held), hasIgnored: set.ignored.length > 0 })
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

  /** It waits no more, whatever comes of it. */
  function take({ id, hash }: ProposedChanges): Waiting | undefined {
    const found = waiting.get(id)
    waiting.delete(id)
    return found?.hash === hash ? found : undefined
  }

  return {
    areThere: async () => (await (await sandbox.get()).layers()).hold === 'overlay',
    masks: memoizedSecrets,
    readable,
    run: (command) => alone(() => run(command)),
    keep: (changes, callId) =>
      alone(async () => {
        const found = take(changes)
        if (!found) throw gone()
        const { layer, kept, indexes, hasIgnored } = found
        try {
          const now = await Promise.all(kept.map((change) => withIndex(root, change, indexes.get(change.path))))
          await workspace.changes.adopt(callId, layer.open, toLayerChanges(now))
          // Ignored files in folders that the workspace did not have before.
          if (hasIgnored) await layer.keepIgnored().catch(() => undefined)
          return [`Kept: ${changes.summary}.`]
        } finally {
          await layer.discard().catch(() => undefined)
        }
      }),
    discard: (changes) => alone(async () => take(changes)?.layer.discard()),
    ignored: {
      changed: () => alone(async () => (await privateLayer())?.changed() ?? []),
      keep: () => alone(async () => keptText((await (await privateLayer())?.keep()) ?? { kept: [], left: [] })),
    },
  }
}

/** It was discarded, or belonged to a process that has ended. */
const gone = (): ModelRetry =>
  new ModelRetry('What the command changed is not there any more, so nothing was kept. Run the same command again.', {
    errorType: 'conflict',
    parameter: 'command',
    constraint: 'changes that still wait: those of a command that was run since Mulligan was started',
  })

/** Whoever has looked at the repository meanwhile may have written its index anew: that changed nothing. */
async function withIndex(root: string, change: Change, was: Buffer | undefined): Promise<Change> {
  const { path, before } = change
  if (was === undefined || before?.type !== 'file') return change
  const is = await readFile(join(root, path)).catch(() => undefined)
  return is && saySame(is, was) ? { ...change, before: { ...before, size: is.length, sha256: sha256(is) } } : change
}

const MAX_NAMED = 5
const named = (paths: readonly string[]): string =>
  `${paths.slice(0, MAX_NAMED).join(', ')}${paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : ''}`

const ignoredNote = (paths: readonly string[]): readonly string[] =>
  paths.length === 0 ? [] : [`Git ignores ${named(paths)}: later commands of this session see these changes, the workspace does not.`]

function keptText({ kept, left }: KeptIgnored): readonly string[] {
  const why = Map.groupBy(left, (one) => one.why)
  return [
    ...(kept.length === 0 ? [] : [`Kept ${named(kept)}, which git ignores; undo does not take this back.`]),
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
  throw new ToolFailure(`Nothing of the command was kept: ${message}.${remedy === undefined ? '' : ` ${remedy}`}`, { errorType: 'sandbox' })
}
