import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { BIN, type CliFixture, place, using } from '../test/cli.fixture.ts'

/** Makes this Node report an old version. */
const OLD = ['--import', 'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"18.20.0"}})']

function install(here: CliFixture): string {
  const home = join(here.dir, 'app/packages/cli')
  mkdirSync(join(home, 'bin'), { recursive: true })
  copyFileSync(BIN, join(home, 'bin/mulligan.js'))
  writeFileSync(join(home, 'package.json'), '{"type":"module"}')
  return join(home, 'bin/mulligan.js')
}

function build(here: CliFixture): void {
  const code = 'export const run = (argv) => { console.log(JSON.stringify([process.versions.node, argv])); process.exit(7) }'
  here.write('app/packages/cli/dist/main.js', code)
}

describe('bin/mulligan.js', () => {
  it('in a clone that is not built says how to build it', async () => {
    using here = place()
    const { code, stderr } = await here.run(['--version'], { bin: install(here) })
    expect([code, stderr]).toEqual([2, expect.stringContaining('npm run build')])
  })

  it('on an old Node starts again on the one beside it', async () => {
    using here = place()
    const bin = install(here)
    build(here)
    mkdirSync(join(here.dir, 'app/node_modules/node/bin'), { recursive: true })
    symlinkSync(process.execPath, join(here.dir, 'app/node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node'))
    const { code, stdout } = await here.run(['a', '--b'], { bin, execArgv: OLD })
    expect([code, JSON.parse(stdout)]).toEqual([7, [process.versions.node, ['a', '--b']]])
  })

  it.skipIf(process.platform === 'win32').each([true, false])(
    'what it started ends with it, also when it is killed: %s',
    async (follows) => {
      using here = place()
      const bin = install(here)
      here.write('app/packages/cli/dist/main.js', 'export const run = () => { console.log(process.pid); setInterval(() => {}, 1000) }')
      // Control: the old behavior.
      if (!follows) writeFileSync(bin, readFileSync(bin, 'utf8').replace("process.on('disconnect'", "process.on('never'"))
      mkdirSync(join(here.dir, 'app/node_modules/node/bin'), { recursive: true })
      symlinkSync(process.execPath, join(here.dir, 'app/node_modules/node/bin/node'))
      const parent = spawn(process.execPath, [...OLD, bin], { stdio: ['ignore', 'pipe', 'inherit'] })
      const pid = Number(String((await once(parent.stdout, 'data'))[0]))
      parent.kill('SIGKILL')
      if (follows) await once(parent.stdout, 'close')
      else {
        await once(parent, 'exit')
        process.kill(pid, 'SIGKILL')
      }
      expect(pid).toBeGreaterThan(0)
    },
  )

  it.skipIf(process.getuid?.() !== 0)('but not on one that somebody else has put above', async () => {
    using here = place()
    const bin = install(here)
    build(here)
    mkdirSync(join(here.dir, 'app/node_modules/node/bin'), { recursive: true })
    symlinkSync(process.execPath, join(here.dir, 'app/node_modules/node/bin/node'))
    chownSync(join(here.dir, 'app/node_modules'), 4242, 4242)
    expect(await here.run(['a'], { bin, execArgv: OLD })).toMatchObject({ code: 2, stdout: '' })
  })

  it('on an old Node without another says what to do', async () => {
    using here = place()
    const bin = install(here)
    build(here)
    const { code, stdout, stderr } = await here.run(['a'], { bin, execArgv: OLD })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/needs Node 22\.18 or newer; this is 18\.20\.0\.\n.*npm install node@24/)
  })
})

/** Records at the first request whether Node's fetch is loaded, then loads it. */
const AT_REQUEST = `
  import { writeFileSync } from 'node:fs'
  import { subscribe } from 'node:diagnostics_channel'
  const isLoaded = () => process.moduleLoadList.some((name) => name.endsWith('deps/undici/undici'))
  subscribe('http.client.request.created', () => {
    const before = isLoaded()
    new Headers()
    writeFileSync(process.env.TOLD, JSON.stringify([before, isLoaded()]), { flag: 'wx' })
  })
`

describe('the built command', () => {
  it("has not loaded Node's fetch when it makes its first request", async () => {
    using here = place()
    await using model = await scriptedModel([say('Hello.')])
    const told = join(here.dir, 'told.json')
    const env = { TOLD: told, MULLIGAN_CONTEXT: '32768' }
    const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(AT_REQUEST)}`]
    const { code, stderr } = await here.run(['run', 'hi', ...using(model)], { bin: BIN, execArgv, env })
    expect([code, JSON.parse(readFileSync(told, 'utf8'))], stderr).toEqual([0, [false, true]])
  })
})
