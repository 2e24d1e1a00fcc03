/** Layers of one sandbox: where they lie, the walls around their commands, and what becomes of them when it is closed. */
import { mkdirSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Beside, OpenBackend, OpenRequest } from '../backend.ts'
import type { Command, Completed, Reason, Running } from '../command.ts'
import { CommandError, SandboxError } from '../errors.ts'
import { isWithin } from '../paths.ts'
import type { View } from '../view/view.ts'
import { mountingCaches } from './caches.ts'
import { MAX_ENTRIES, openChanged } from './changed.ts'
import { openPrivate, type PrivateLayer } from './keep-private.ts'
import { around, lastLine, mounting, namespace, runIn } from './mount.ts'
import { refreshPrivate } from './private-layer.ts'
import { checkMounts, findStore } from './probe.ts'
import { createSpareLayer, type SpareLayer } from './spare.ts'
import { candidates, makeOwnSession, makeSession, removeLayer, sessionFolder, syncLayer, writeManifest } from './store.ts'
import { type Ignored, type Layer, LayerError, type LayerOptions, type LayerSupport } from './types.ts'
import { coversOf, findListening, layerView, maskedPaths, mountPoints, readOnlyView } from './views.ts'

/** Where a command is run, other than in the sandbox itself. */
export interface LayerRun {
  readonly backend: OpenBackend
  readonly view: View
  /** For the working folder: where its files are. */
  readonly shown?: View
  readonly before?: readonly string[]
  /** Folders on whose disks the command writes. */
  readonly written: readonly string[]
}

export interface LayersOptions {
  readonly backend: OpenBackend
  readonly request: OpenRequest
  readonly protect: readonly string[]
  readonly stateFolder: string | undefined
  readonly hostEnv: Readonly<Record<string, string | undefined>>
  readonly start: (command: Command, timeout: number, place: LayerRun) => Promise<Running>
}

export interface Layers {
  readonly support: () => Promise<LayerSupport>
  readonly open: (options?: LayerOptions) => Promise<Layer>
  readonly privateLayer: (options?: Pick<LayerOptions, 'session' | 'masks'>) => Promise<PrivateLayer>
  /** @throws SandboxError where there are no walls that could hold it */
  readonly readOnly: (masks: readonly string[]) => Promise<LayerRun>
  readonly close: () => Promise<void>
}

/** Of ends after which nobody knows how far the command came. */
const CUT_OFF: readonly Reason[] = ['timeout', 'aborted', 'memory', 'disk', 'output']
const nothingIgnored: Ignored = () => []

export function createLayers(options: LayersOptions): Layers {
  const { backend, request, protect, start } = options
  const { view, limits } = request
  const { workspace } = view
  const points = mountPoints(view)
  const bounds = { entries: MAX_ENTRIES, bytes: limits.disk }
  const open = new Map<string, () => Promise<void>>()
  const walls = new Map<string, Promise<OpenBackend>>()
  const spares = new Map<string, SpareLayer>()
  const removing = new Set<Promise<void>>()
  let finding: Promise<string> | undefined
  let found: Promise<readonly string[]> | undefined
  let ownSession: string | undefined
  let ownCaches: string | undefined
  let areCachesUsed = false

  const store = (): Promise<string> => {
    finding ??= (async () => {
      if (backend.name !== 'bubblewrap')
        throw new LayerError('unsupported', `layers need bubblewrap; the sandbox is ${backend.name}`, 'On Linux: install bubblewrap.')
      return findStore(workspace, candidates(options.stateFolder, options.hostEnv))
    })()
    return finding
  }
  /** Bubblewrap refuses sockets, so a look at the whole workspace once is enough: for the named pipes that are in it. */
  const listening = (): Promise<readonly string[]> => {
    if (backend.name !== 'bubblewrap') return findListening(workspace)
    found ??= findListening(workspace)
    return found
  }
  /** The same backend with another view, made once for each set of mounts. Never with a network: nobody was asked. */
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
  const cacheFolder = async (where: string): Promise<string> => {
    ownCaches ??= makeOwnSession(where)
    return ownCaches
  }
  /** Its mount waits behind these walls. */
  const spareFor = (where: string, wanted: View): SpareLayer => {
    const key = keyOf(wanted)
    const spare = spares.get(key) ?? createSpareLayer(where, workspace, points.workspace)
    spares.set(key, spare)
    return spare
  }
  const sessionOf = async (session: string | undefined): Promise<string> => {
    const where = await store()
    if (session !== undefined) return sessionFolder(where, workspace, session)
    ownSession ??= makeOwnSession(where)
    return ownSession
  }

  const openLayer = async ({ masks = [], session, ignored = nothingIgnored }: LayerOptions = {}): Promise<Layer> => {
    const where = await store()
    checkMounts(workspace)
    const privateRoot = makeSession(await sessionOf(session), workspace)
    await refreshPrivate(privateRoot, workspace)
    const covers = await coversOf(view, masks)
    const wanted = layerView(view, covers)
    for (const at of [points.workspace, ...points.caches.map(({ at }) => at)]) mkdirSync(at, { recursive: true })
    const spare = spareFor(where, wanted)
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
      open.delete(id)
      const removed: Promise<void> = removeLayer(folder).finally(() => removing.delete(removed))
      removing.add(removed)
    }
    const whileIdle = async <T>(work: () => Promise<T>): Promise<T> => {
      if (isGone !== undefined) throw new LayerError('gone', `the layer is gone: ${isGone}`)
      if (isRunning) throw new LayerError('busy', 'a command is running in the layer')
      return work()
    }
    const run = (command: Command): Promise<Completed> =>
      whileIdle(async () => {
        isRunning = true
        // Nothing may be mounted twice: what a second command at the same time writes to caches goes with its layer.
        const usesOwn = areCachesUsed
        areCachesUsed = true
        try {
          const place: LayerRun = {
            backend: inside,
            view: wanted,
            shown: await shownIn(privateRoot, command.cwd, view),
            before: [mounting(overlay), ...mountingCaches(points.caches, usesOwn ? folder : await cacheFolder(where))],
            written: [folder, view.tmpFolder],
          }
          const completed = await (await start(command, command.timeout ?? limits.timeout, place)).ended
          if (CUT_OFF.includes(completed.reason)) await discard(`its command was cut off (${completed.reason})`)
          if (completed.reason === 'exit' && completed.exitCode === 0) return completed
          throw new CommandError(completed)
        } catch (error) {
          if (!(error instanceof SandboxError)) throw error
          const fault = await mountFault(overlay, error)
          await discard('its command could not be run')
          throw fault
        } finally {
          isRunning = false
          if (!usesOwn) areCachesUsed = false
        }
      })

    open.set(id, discard)
    return {
      id,
      run,
      changes: () => whileIdle(changed.changes),
      open: (path) => whileIdle(() => changed.open(path)),
      keepIgnored: () => whileIdle(changed.keepIgnored),
      wait: (note = '') =>
        whileIdle(async () => {
          await syncLayer(folder)
          const set = await changed.changes()
          await writeManifest(folder, { version: 1, ...shape, session, ignored: set.ignored, hash: set.hash, note, since: Date.now() })
          open.delete(id)
          return set
        }),
      discard: () => whileIdle(discard),
    }
  }

  return {
    support: () =>
      store().then(
        (where) => ({ hold: 'overlay', by: `overlayfs${process.getuid?.() === 0 ? '' : ' in a user namespace'}, in ${where}` }),
        (error: Error) => ({ hold: 'none', by: error.message }),
      ),
    open: openLayer,
    privateLayer: async ({ session, masks = [] } = {}) => {
      const folder = await sessionOf(session)
      makeSession(folder, workspace)
      return openPrivate({ folder, workspace, masks: maskedPaths(view, masks, await coversOf(view, masks)), protect })
    },
    readOnly: async (masks) => {
      const wanted = readOnlyView(view, await coversOf(view, [...masks, ...(await listening())]))
      const inside = await wallsFor(wanted, { unixSockets: false })
      return { backend: inside, view: inside.view ?? wanted, written: [view.tmpFolder] }
    },
    close: async () => {
      await Promise.all([...open.values()].map((discard) => discard()))
      const opened = await Promise.allSettled(walls.values())
      await Promise.all(opened.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)))
      await Promise.all([...removing, ...[...spares.values()].map((spare) => spare.close())])
      await Promise.all([ownSession, ownCaches].map((folder) => folder !== undefined && removeLayer(folder)))
    },
  }
}

const keyOf = (wanted: View, options?: Beside): string => JSON.stringify([wanted.mounts, wanted.containerMounts, options])

/** A folder that an earlier command made is in the private layer. */
async function shownIn(privateRoot: string, cwd: string | undefined, view: View): Promise<View> {
  const path = cwd === undefined ? '' : relative(view.workspace, isAbsolute(cwd) ? resolve(cwd) : join(view.workspace, cwd))
  if (path === '' || !isWithin(view.workspace, join(view.workspace, path))) return view
  for (const [at] of path.split('/').entries()) {
    const found = await lstat(join(privateRoot, ...path.split('/').slice(0, at + 1))).catch(() => undefined)
    if (!found) return view
  }
  return { ...view, mounts: view.mounts.map((mount) => (mount.target === view.workspace ? { ...mount, source: privateRoot } : mount)) }
}

/** Where it was the overlay that could not be mounted, says so. */
async function mountFault(overlay: Parameters<typeof around>[0], error: SandboxError): Promise<SandboxError> {
  const [exitCode, , stderr] = await runIn([...around(overlay), '/bin/true']).catch(() => [0, undefined, ''] as const)
  return exitCode === 0 ? error : new SandboxError({ message: `the layer could not be mounted: ${lastLine(stderr)}`, cause: error })
}
