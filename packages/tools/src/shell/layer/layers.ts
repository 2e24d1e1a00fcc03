/** Commands on throwaway layers: they run at once, and what they did waits until it is kept or discarded. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ProposedChanges, ToolFailure } from '@mulligan/core'
import type { Change, Command, Completed, Layer, LayerError } from '@mulligan/sandbox'
import { createGit } from '../../git/common/process.ts'
import type { Workspace } from '../../workspace/workspace.ts'
import { isCommandError } from '../common/faults.ts'
import type { SessionSandbox } from '../common/sandbox.ts'
import { diffOf, keepable, protectedReason, summaryOf, targetsOf, toLayerChanges } from './change-set.ts'
import { withGitLocks } from './git-locks.ts'
import { ignoredBy } from './ignored.ts'
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
  /** One at a time. @throws what the sandbox throws, but not for a command that failed; ToolFailure where the layer is too full */
  readonly run: (command: Command) => Promise<RanOnLayer>
  /** @returns sentences for the model. @throws ModelRetry (conflict); ToolFailure where the layer is not there any more */
  readonly keep: (changes: ProposedChanges, callId: string) => Promise<readonly string[]>
  readonly discard: (changes: ProposedChanges) => Promise<void>
}

interface Waiting {
  readonly layer: Layer
  readonly hash: string
  readonly kept: readonly Change[]
  readonly hasIgnored: boolean
}

export function createLayers({ workspace, sandbox, readable = [] }: LayersOptions): ShellLayers {
  const { root } = workspace
  const git = createGit(root)
  const waiting = new Map<string, Waiting>()
  let masks: Promise<readonly string[]> | undefined
  let last: Promise<unknown> = Promise.resolve()

  /** Layers of one session share what is below them. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }

  const secretsOnce = (signal: AbortSignal | undefined): Promise<readonly string[]> => {
    masks ??= secretPaths(root, git, readable, signal).catch((error: unknown) => {
      masks = undefined
      throw error
    })
    return masks
  }

  async function run(command: Command): Promise<RanOnLayer> {
    const opened = await sandbox.get()
    const layer = await opened.openLayer({ masks: await secretsOnce(command.signal), ignored: ignoredBy(git, root) })
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
      const { kept, left } = keepable(set)
      const notes = [...ignoredNote(set.ignored), ...leftNote(left)]
      if (kept.length === 0) return { completed, changes: undefined, notes }
      const diff = await diffOf(kept, {
        before: (path) => readFile(join(root, path)),
        after: async (path) => {
          await using file = await layer.open(path)
          return file.readFile()
        },
      })
      const forced = protectedReason(kept)
      waiting.set(layer.id, { layer, hash: set.hash, kept, hasIgnored: set.ignored.length > 0 })
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
    masks: secretsOnce,
    run: (command) => alone(() => run(command)),
    keep: (changes, callId) =>
      alone(async () => {
        const found = take(changes)
        if (!found) throw new ToolFailure('What the command changed is not there any more, so nothing was kept. Run it again.')
        const { layer, kept, hasIgnored } = found
        try {
          const paths = kept.map(({ path }) => path)
          await withGitLocks(root, paths, () => workspace.changes.adopt(callId, layer.open, toLayerChanges(kept)))
          // Ignored files in folders that the workspace did not have before.
          if (hasIgnored) await layer.keepIgnored().catch(() => undefined)
          return [`Kept: ${changes.summary}.`]
        } finally {
          await layer.discard().catch(() => undefined)
        }
      }),
    discard: (changes) => alone(async () => take(changes)?.layer.discard()),
  }
}

const MAX_NAMED = 5
const named = (paths: readonly string[]): string =>
  `${paths.slice(0, MAX_NAMED).join(', ')}${paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : ''}`

const ignoredNote = (paths: readonly string[]): readonly string[] =>
  paths.length === 0 ? [] : [`Git ignores ${named(paths)}: later commands of this session see these changes, the workspace does not.`]

const leftNote = (left: readonly Change[]): readonly string[] =>
  left.length === 0
    ? []
    : [`Can't be kept: ${named(left.map(({ path, unsupported = 'it can not be read' }) => `${path} (${unsupported})`))}.`]

function tooFull(error: unknown): never {
  const { name, message, remedy } = error as LayerError
  if (name !== 'LayerError') throw error
  throw new ToolFailure(`Nothing of the command was kept: ${message}.${remedy === undefined ? '' : ` ${remedy}`}`, { errorType: 'sandbox' })
}
