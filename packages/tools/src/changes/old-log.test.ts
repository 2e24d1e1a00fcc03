/** Tests a log of an earlier version, whose plans contain owners and whose lock is a folder of claims. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { sha256 } from '../sha256.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { createChangeLog } from './change-log.ts'
import { pendingPlans } from './changes.fixture.ts'
import { folderOf } from './folders.ts'

const owner = { pid: 4242, instance: '00ff00ff00ff00ff', place: 'boot-id pid:[4026531836]', started: '998877' }
const state = (text: string) => ({ kind: 'file', hash: sha256(text), size: text.length, mode: 0o644, owner: { uid: 0, gid: 0 }, inode: 7 })
const record = (turn: string, path: string) =>
  JSON.stringify({
    version: 1,
    kind: 'call',
    turn,
    callId: `${turn}/1/0`,
    at: 1_700_000_000_000,
    owner,
    steps: [{ kind: 'set', path, before: state('old'), after: state('new'), temporary: '.mulligan-0011aabbccdd.tmp' }],
  })

let root: string
let dir: string
beforeEach(() => {
  const top = temporary()
  ;[root, dir] = [join(top, 'work'), join(top, 'data')]
  put(root, { 'done.txt': 'new', 'torn.txt': 'new' })
  const folder = folderOf(dir, root)
  for (const one of ['blobs', 'done', 'pending', 'lock']) mkdirSync(join(folder, one), { recursive: true })
  for (const text of ['old', 'new']) writeFileSync(join(folder, 'blobs', sha256(text)), text)
  writeFileSync(join(folder, 'done/01700000000000_00ff00ff_6_s%2F1.json'), record('s/1', 'done.txt'))
  writeFileSync(join(folder, 'pending/01700000000001_00ff00ff_6_s%2F2.json'), record('s/2', 'torn.txt'))
  writeFileSync(join(folder, 'lock/0011223344556677.json'), JSON.stringify({ owner, at: Date.now() }))
})

test('its turns can be undone, and what it left half done is taken back', async () => {
  const log = createChangeLog({ dir, root, lockWait: 50 })
  expect(await log.recover()).toEqual({ restored: ['torn.txt'], left: [] })
  expect(pendingPlans(dir, root)).toEqual([])
  expect(await log.turns()).toMatchObject([{ turn: 's/1', undone: false, damaged: false }])
  expect(await log.undo('s/1')).toMatchObject({ done: true, conflicts: [] })
  expect(['done.txt', 'torn.txt'].map((path) => readFileSync(join(root, path), 'utf8'))).toEqual(['old', 'old'])
  expect(await log.redo('s/1')).toMatchObject({ done: true, conflicts: [] })
})
