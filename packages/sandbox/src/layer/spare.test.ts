import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSpareLayer } from './store.ts'

it.runIf(process.platform === 'linux').each([true, false])(
  'a spare layer that was removed while it waited is recreated: %s',
  (isRemoved) => {
    const base = mkdtempSync(join(tmpdir(), 'mulligan-spare-'))
    try {
      const [store, workspace, session] = ['store', 'project', 'session'].map((name) => join(base, name)) as [string, string, string]
      for (const folder of [store, workspace, session]) mkdirSync(folder)
      const layers = createSpareLayer(store, workspace, join(base, 'at'))
      const used = layers.take(session).folder
      layers.ahead()
      const waits = readdirSync(store)
        .map((name) => join(store, name))
        .find((folder) => folder !== used) as string
      if (isRemoved) rmSync(waits, { recursive: true })
      const next = layers.take(session).folder
      expect(existsSync(join(next, 'upper'))).toBe(true)
      expect(next === waits, 'control: one that is still there is taken').toBe(!isRemoved)
    } finally {
      rmSync(base, { recursive: true })
    }
  },
)
