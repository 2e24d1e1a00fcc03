/** Manages the layers of one sandbox: their location, the isolation of their commands, and their cleanup when the sandbox is closed. */
import { mkdirSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Beside, OpenBackend, OpenRequest } from '../backend.ts'
import { type Command, type Completed, type Reason, type Running, resultOf, SandboxError } from '../command.ts'
import { isWithin } from '../paths.ts'
import type { View } from '../view/view.ts'
import { MAX_ENTRIES, openChanged } from './changed.ts'
import { openPrivate, type PrivateLayer } from './keep-private.ts'
import { around, lastLine, mounting, mountingCaches, namespace, type Overlay, runIn } from './mount.ts'
import { refreshPrivate } from './private-layer.ts'
import * as store from './store.ts'
import { type Ignored, type Layer, LayerError, type LayerOptions, type LayerSupport } from './types.ts'
import { coversOf, findListening, layerView, maskedPaths, mountPoints, readOnlyView } from './views.ts'

/** Where a command runs, if not in the sandbox itself. */
export interface LayerRun {
  readonly backend: OpenBackend
  readonly view: View
  /** The view used to find the files of the working folder. */
  readonly shown?: View
  readonly before?: readonly string[]
  /** Folders whose disks the command writes to. */
  readonly written: readonly string[]
}

type Start = (command: Command, timeout: number, place: LayerRun) => Promise<Running>

/** Reasons after which it is unknown how far the command got. */
const CUT_OFF: readonly Reason[] = ['timeout', 'aborted', 'memory', 'disk', 'output']
const nothingIgnored: Ignored = () => []

export function createLayers(
  backend: OpenBackend,
  { view, limits }: OpenRequest,
  protect: readonly string[],
  where: store.ListOptions,
  start: Start,
) {
  const { workspace } = view
  const points = mountPoints(view)
  const bounds = { entries: MAX_ENTRIES, bytes: limits.disk }
  const opened = new Map<string, () => Promise<void>>()
  const walls = new Map<string, Promise<OpenBackend>>()
  const spares = new Map<string, store.SpareLayer>()
  const removing = new Set<Promise<void>>()
  let finding: Promise<string> | undefined
  let found: Promise<readonly string[]> | undefined
  let ownSession: string | undefined
  let ownCaches: string | undefined
  let areCachesUsed = false

  const find = async (): Promise<string> => {
    if (backend.name !== 'bubblewrap')
      throw new LayerError('unsupported', `layers need bubblewrap; the sandbox is ${backend.name}`, 'On Linux: install bubblewrap.')
    return store.findStore(workspace, store.candidates(where))
  }
  const findOnce = (): Promise<string> => {
    finding ??= find()
    return finding
  }
  /**
   * Finds sockets and named pipes in the workspace. With bubblewrap, which refuses sockets, one scan of the whole workspace is
   * enough for the named pipes.
   */
  const listening = (): Promise<readonly string[]> => {
    if (backend.name !== 'bubblewrap') return findListening(workspace)
    found ??= findListening(workspace)
    return found
  }
  /** Opens the same backend with another view, once for each set of mounts. It never has network access, since nobody approved that. */
  const wallsFor = async (wanted: View, options?: Beside): Promise<OpenBackend> => {
    if (!backend.beside)
      throw new SandboxError({
        message: 'without a sandbox nothing keeps a command from writing to the workspace',
        remedy: 'Set sandbox.backend to auto.',
      })
    const key = keyOf(wanted, options)
    const opening = walls.get(key) ?? backend.beside(wanted, options)
    walls.set(key, opening)
    opening.catch(() => walls.delete(key))
    return opening
  }
  const sessionOf = async (session: string | undefined): Promise<string> => {
    const where = await findOnce()
    if (session !== undefined) return store.sessionFolder(where, workspace, session)
    ownSession ??= store.makeOwnSession(where)
    return ownSession
  }

  const open = async ({ masks = [], session, ignored = nothingIgnored }: LayerOptions = {}): Promise<Layer> => {
    const where = await findOnce()
    store.checkMounts(workspace)
    const privateRoot = store.makeSession(await sessionOf(session), workspace)
    await refreshPrivate(privateRoot, workspace)
    const covers = await coversOf(view, masks)
    const wanted = layerView(view, covers)
    for (const at of [points.workspace, ...points.caches.map(({ at }) => at)]) mkdirSync(at, { recursive: true })
    // The mount of the spare layer waits in this backend.
    const spare = spares.get(keyOf(wanted)) ?? store.createSpareLayer(where, workspace, points.workspace)
    spares.set(keyOf(wanted), spare)
    const inside = await wallsFor(wanted, { prefix: namespace(), ahead: spare.ahead })
    const overlay = spare.take(privateRoot)
    const { folder } = overlay
    const id = folder.slice(where.length + 1)
    const shape = { folder, workspace, privateRoot, masks: maskedPaths(view, masks, covers), protect, limits: bounds }
    const changed = openChanged({ ...shape, ignored })
    let isRunning = false
    let isGone: string | undefined

    const discard = async (why = 'it was discarded') => {
      isGone ??= why
      opened.delete(id)
      const removed: Promise<void> = store.removeLayer(folder).finally(() => removing.delete(removed))
      removing.add(removed)
    }
    const whileIdle = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isGone !== undefined) throw new LayerError('gone', `the layer is gone: ${isGone}`)
      if (isRunning) throw new LayerError('busy', 'a command is running in the layer')
      return work()
    }
    const run = async (command: Command): Promise<Completed> => {
      isRunning = true
      // The same folder can't be mounted twice: when a second command runs at the same time, its cache writes are discarded with its layer.
      const usesOwn = areCachesUsed
      areCachesUsed = true
      try {
        if (!usesOwn) ownCaches ??= store.makeOwnSession(where)
        const place: LayerRun = {
          backend: inside,
          view: wanted,
          shown: await shownIn(privateRoot, command.cwd, view),
          before: [mounting(overlay), ...mountingCaches(points.caches, usesOwn ? folder : (ownCaches ?? folder))],
          written: [folder, view.tmpFolder],
        }
        const completed = await (await start(command, command.timeout ?? limits.timeout, place)).ended
        if (CUT_OFF.includes(completed.reason)) await discard(`its command was cut off (${completed.reason})`)
        return resultOf(completed)
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error
        const fault = await mountFault(overlay, error)
        await discard('its command could not be run')
        throw fault
      } finally {
        isRunning = false
        if (!usesOwn) areCachesUsed = false
      }
    }

    opened.set(id, discard)
    return {
      id,
      run: (command) => whileIdle(() => run(command)),
      changes: () => whileIdle(changed.changes),
      open: (path) => whileIdle(() => changed.open(path)),
      keepIgnored: () => whileIdle(changed.keepIgnored),
      wait: (note = '') =>
        whileIdle(async () => {
          await store.syncLayer(folder)
          const set = await changed.changes()
          await store.writeManifest(folder, {
            version: 1,
            ...shape,
            session,
            ignored: set.ignored,
            hash: set.hash,
            note,
            since: Date.now(),
          })
          opened.delete(id)
          return set
        }),
      discard: () => whileIdle(discard),
    }
  }

  return {
    open,
    support: (): Promise<LayerSupport> =>
      findOnce().then(
        (where) => ({ hold: 'overlay', by: `overlayfs${process.getuid?.() === 0 ? '' : ' in a user namespace'}, in ${where}` }),
        (error: Error) => ({ hold: 'none', by: error.message }),
      ),
    privateLayer: async ({ session, masks = [] }: Pick<LayerOptions, 'session' | 'masks'> = {}): Promise<PrivateLayer> => {
      const folder = await sessionOf(session)
      store.makeSession(folder, workspace)
      return openPrivate({ folder, workspace, masks: maskedPaths(view, masks, await coversOf(view, masks)), protect })
    },
    /** @throws SandboxError if no available backend can enforce this */
    readOnly: async (masks: readonly string[]): Promise<LayerRun> => {
      const wanted = readOnlyView(view, await coversOf(view, [...masks, ...(await listening())]))
      const inside = await wallsFor(wanted, { unixSockets: false })
      return { backend: inside, view: inside.view ?? wanted, written: [view.tmpFolder] }
    },
    close: async () => {
      await Promise.all([...opened.values()].map((discard) => discard()))
      const backends = await Promise.allSettled(walls.values())
      await Promise.all(backends.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)))
      await Promise.all([...removing, ...[...spares.values()].map((spare) => spare.close())])
      await Promise.all([ownSession, ownCaches].map((folder) => folder !== undefined && store.removeLayer(folder)))
    },
  }
}

const keyOf = (wanted: View, options?: Beside): string => JSON.stringify([wanted.mounts, wanted.containerMounts, options])

/** Finds a working folder in the private layer, where an earlier command may have created it. */
async function shownIn(privateRoot: string, cwd: string | undefined, view: View): Promise<View> {
  const path = cwd === undefined ? '' : relative(view.workspace, isAbsolute(cwd) ? resolve(cwd) : join(view.workspace, cwd))
  if (path === '' || !isWithin(view.workspace, join(view.workspace, path))) return view
  const names = path.split('/')
  for (const [at] of names.entries()) if (!(await lstat(join(privateRoot, ...names.slice(0, at + 1))).catch(() => undefined))) return view
  return { ...view, mounts: view.mounts.map((mount) => (mount.target === view.workspace ? { ...mount, source: privateRoot } : mount)) }
}

/** Reports the overlay's mount error if that is why the command failed. */
async function mountFault(overlay: Overlay, error: SandboxError): Promise<SandboxError> {
  const [exitCode, , stderr] = await runIn([...around(overlay), '/bin/true']).catch(() => [0, undefined, ''] as const)
  return exitCode === 0 ? error : new SandboxError({ message: `the layer could not be mounted: ${lastLine(stderr)}`, cause: error })
}
