import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listLayers } from './changed.ts'
import { makeLayer, writeManifest } from './store.ts'

let base: string
let stateFolder: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'mulligan-waiting-'))
  stateFolder = join(base, 'state')
  for (const name of ['state', 'project']) mkdirSync(join(base, name))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function waitingLayer(): Promise<string> {
  const workspace = join(base, 'project')
  const folder = makeLayer(stateFolder, workspace, undefined)
  const shape = { session: undefined, masks: [], ignored: [], protect: [], note: '', since: 0, limits: { entries: 10, bytes: 10 } }
  await writeManifest(folder, { version: 1, workspace, hash: '', ...shape })
  return folder
}
const waitingIds = async () => (await listLayers({ stateFolder })).waiting.map(({ id }) => join(stateFolder, id))

it('a layer whose removal was cut off does not wait, though its manifest is still there', async () => {
  const folder = await waitingLayer()
  expect(await waitingIds(), 'control: it waited').toEqual([folder])
  const gone = join(stateFolder, 'gone-1-1-1-abcdef')
  renameSync(folder, gone)
  expect(await waitingIds()).toEqual([])
})

it('a layer that waits is out of the way as soon as its removal begins', async () => {
  const folder = await waitingLayer()
  const [layer] = (await listLayers({ stateFolder })).waiting
  const removed = layer?.discard()
  expect(existsSync(folder)).toBe(false)
  expect(await waitingIds()).toEqual([])
  await removed
})
