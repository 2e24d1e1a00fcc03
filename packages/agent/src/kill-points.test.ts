import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { memoryStore, openStore } from './index.ts'
import { describeKillPoints } from './kill-points.fixture.ts'

let folder: string
let files = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-kill-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const last = (): string => join(folder, `store-${files}.db`)

describeKillPoints('memory', { openStore: async () => memoryStore(), reopen: async (killed) => killed })
describeKillPoints('SQLite', {
  openStore: () => {
    files++
    return openStore(last())
  },
  reopen: () => openStore(last()),
})
