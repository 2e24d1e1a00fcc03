import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** The tag changes with every V8 flag that is set. */
const script = (save: string) => `
  import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
  import { saveMemory } from ${JSON.stringify(new URL('./process.ts', import.meta.url).href)}
  const before = cachedDataVersionTag()
  ${save}
  const saved = cachedDataVersionTag()
  setFlagsFromString('--memory-saver-mode')
  console.log(JSON.stringify([saved !== before, saved === cachedDataVersionTag()]))
`

describe('saveMemory', () => {
  it.skipIf(!process.versions.v8.startsWith('13.')).each([
    ['puts the memory saver of V8 in force', 'saveMemory()', [true, true]],
    ['which is not so without it', '', [false, false]],
  ])('%s', (_, save, expected) => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script(save)], { encoding: 'utf8' })
    expect(JSON.parse(stdout), stderr).toEqual(expected)
  })
})
