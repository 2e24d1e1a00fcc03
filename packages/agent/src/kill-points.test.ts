import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { samples } from '../../../scripts/test-scope.fixture.ts'
import { memoryStore, openStore, type Store } from './index.ts'
import { describeKillPoints } from './kill-points.fixture.ts'
import { POSTGRES, stopPostgres } from './store/dialects.fixture.ts'
import { hasPostgres } from './store/postgres.fixture.ts'

let folder: string
let files = 0
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mulligan-kill-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const last = (): string => join(folder, `store-${files}.db`)

describeKillPoints('memory', { openStore: async () => memoryStore(), reopen: async (killed) => killed }, 100)
describeKillPoints('memory with a strict journal', {
  openStore: async () => memoryStore({ strict: true }),
  reopen: async (killed) => killed,
})
describeKillPoints('SQLite', {
  openStore: () => {
    files++
    return openStore(last())
  },
  reopen: () => openStore(last()),
})

/** With a database server, each run takes longer. */
const KILLS = samples(10, 40)

describe.skipIf(!hasPostgres)('on a server', () => {
  let place = ''
  const opened: Store[] = []
  const open = async (): Promise<Store> => {
    const store = await openStore(place)
    opened.push(store)
    return store
  }
  const closeAll = (): Promise<unknown> => Promise.all(opened.splice(0).map((store) => store.close().catch(() => undefined)))
  afterAll(async () => {
    await closeAll()
    await stopPostgres()
  })

  describeKillPoints(
    'PostgreSQL',
    {
      openStore: async () => {
        // Close the connections of dead processes.
        await closeAll()
        place = await POSTGRES.place(folder)
        return open()
      },
      reopen: open,
    },
    KILLS,
  )
})
