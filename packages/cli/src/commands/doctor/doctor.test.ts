import type { Enforcement, Hold, LayerSupport } from '@mulligan/sandbox'
import { describe, expect, it } from 'vitest'
import { sandboxThere } from '../../../../host/src/tools/sandbox.fixture.ts'
import { place } from '../../../test/cli.fixture.ts'
import { type Probed, reportOf, sandboxChecks } from './doctor.ts'

const enforces = (memory: Hold): Enforcement => ({
  files: { hold: 'hard', by: 'f' },
  network: { hold: 'hard', by: 'n' },
  memory: { hold: memory, by: 'm' },
  processes: { hold: 'hard', by: 'p' },
  cpu: { hold: 'hard', by: 'c' },
  disk: { hold: 'partial', by: 'd' },
  treeKill: { hold: 'hard', by: 't' },
})
const there = (name: string, memory: Hold = 'hard'): Probed => ({ name, ok: true, enforces: enforces(memory) })
const absent = (name: string): Probed => ({ name, ok: false, reason: `no ${name}`, remedy: `install ${name}` })
const layersOf = (backend: Probed, layers: LayerSupport) =>
  sandboxChecks({ ...reportOf([backend], backend.name), layers }, backend.name)
    .filter(({ name }) => name === 'layers')
    .map(({ state, says }) => `${state} ${says}`)
const told = (asked: string, ...backends: readonly Probed[]) => {
  const report = reportOf(backends, asked)
  return [report.backend, ...sandboxChecks(report, asked).map(({ name, state, says }) => [name, state, says])]
}

describe('the sandbox', () => {
  it('is the first that is there, and never none by itself', () => {
    const [bwrap, docker, none] = [there('bubblewrap'), there('docker'), there('none', 'partial')]
    expect(told('auto', bwrap, docker, none)).toEqual(['bubblewrap', ['sandbox', 'ok', 'bubblewrap']])
    expect(told('auto', absent('bubblewrap'), docker, none)).toEqual([
      'docker',
      ['sandbox', 'ok', 'docker'],
      ['bubblewrap', 'unused', 'no bubblewrap'],
    ])
    expect(told('auto', absent('bubblewrap'), absent('docker'), none)).toEqual([
      null,
      ['sandbox', 'missing', expect.stringContaining('commands are refused')],
      ['bubblewrap', 'missing', 'no bubblewrap'],
      ['docker', 'missing', 'no docker'],
    ])
  })

  it('that is named is looked at alone', () => {
    expect(told('docker', there('bubblewrap'), absent('docker'))).toEqual([
      null,
      ['sandbox', 'missing', expect.stringContaining('commands are refused')],
      ['docker', 'missing', 'no docker'],
    ])
    expect(told('none', there('bubblewrap'), there('none', 'none'))).toEqual([
      'none',
      ['sandbox', 'lacking', expect.stringContaining('directly on this machine')],
    ])
    expect(told('seatbelt', absent('seatbelt'), there('bubblewrap'))).toEqual([
      null,
      ['sandbox', 'missing', expect.stringContaining('commands are refused')],
      ['seatbelt', 'missing', 'no seatbelt'],
    ])
  })

  it('that holds something in part says what would hold it', () => {
    const [check] = sandboxChecks(reportOf([there('bubblewrap', 'partial')], 'auto'), 'auto')
    expect(check).toMatchObject({ state: 'lacking', remedy: expect.stringContaining('systemd-run --user') })
    expect(check?.rows).toContainEqual(['memory', 'partial', 'm'])
    expect(check?.rows).toContainEqual(['process tree', 'hard', 't'])
  })
})

const hasSandbox = await sandboxThere()

describe('layers', () => {
  it.each<[string, Probed, LayerSupport, RegExp]>([
    ['are in force', there('bubblewrap'), { hold: 'overlay', by: 'overlayfs' }, /^ok overlayfs: commands run without asking first/],
    ['are not, and commands are read-only', there('docker'), { hold: 'none', by: 'no' }, /^lacking none \(no\): commands can't write/],
    ['are nothing without a sandbox', there('none'), { hold: 'none', by: 'no' }, /^unused none without a sandbox: .* ask before they run/],
  ])('%s', (_, backend, layers, says) => expect(layersOf(backend, layers)).toEqual([expect.stringMatching(says)]))

  it.skipIf(!hasSandbox)('are told of as they are here, and why not with the network', async () => {
    using here = place()
    const layers = async (env: Readonly<Record<string, string>>) =>
      (await here.run(['doctor'], { env })).stdout.match(/^(.) layers +(.*)$/m)?.slice(1)
    expect(await layers({})).toEqual([
      expect.stringMatching(/[✓!]/),
      expect.stringMatching(/commands run without asking first|commands can't write/),
    ])
    expect(await layers({ MULLIGAN_SANDBOX_NETWORK: 'bridge' })).toEqual([
      '-',
      'not used: commands have network access, so they ask before they run',
    ])
  })
})

describe('mulligan doctor', () => {
  it('names what there is, and with --json the same as data', async () => {
    using here = place()
    const env = { MULLIGAN_SANDBOX: 'none', MULLIGAN_MODEL: 'openai-compatible/x', MULLIGAN_BASE_URL: 'http://127.0.0.1:1' }
    const text = await here.run(['doctor'], { env })
    expect([text.code, text.stderr]).toEqual([0, ''])
    expect(text.stdout).toMatch(/^✓ node +\d+\.\d+\.\d+ on /m)
    expect(text.stdout).toMatch(/^✓ ripgrep +\d+\.\d+/m)
    expect(text.stdout).toMatch(/^✓ model +openai-compatible\/x on this machine$/m)
    expect(text.stdout).toMatch(/^✓ data +~\/data$/m)
    expect(text.stdout).toMatch(/^! sandbox +none: commands run directly on this machine$/m)
    expect(text.stdout).toMatch(/^ +network +none /m)
    const { code, stdout } = await here.run(['doctor', '--json'], { env })
    const report = JSON.parse(stdout) as { usable: boolean; checks: { name: string }[]; sandbox: { backend: string; backends: Probed[] } }
    expect([code, report.usable, report.sandbox.backend]).toEqual([0, true, 'none'])
    expect(report.checks.map(({ name }) => name)).toEqual(['node', 'ripgrep', 'git', 'model', 'data', 'sandbox', 'layers'])
    expect(report.sandbox.backends.find(({ name }) => name === 'none')?.enforces?.files.hold).toBe('none')
  })

  it('a model is not needed, a sandbox is: what to do is below, and the exit code is 1', async () => {
    using here = place()
    const env = { MULLIGAN_SANDBOX: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' }
    const { code, stdout } = await here.run(['doctor'], { env })
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^! model +no model was named, and none was found on this machine\n +Looked for:/m),
    ])
    expect(stdout).toMatch(/^✗ sandbox +no sandbox can be opened/m)
    expect(stdout).toMatch(/^✗ docker .*\n +.*[Ii]nstall/m)
  })

  it('a data folder that can not be written is missing', async () => {
    using here = place({ 'a-file': '' })
    const env = { MULLIGAN_SANDBOX: 'none', MULLIGAN_DATA_DIR: `${here.dir}/a-file/data` }
    const { code, stdout } = await here.run(['doctor'], { env })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^✗ data +the data folder .*\n +Set MULLIGAN_DATA_DIR/m)])
  })

  it.runIf(hasSandbox)('in the home folder, the sandbox is missing, and another folder is the remedy', async () => {
    using here = place()
    const { code, stdout, stderr } = await here.run(['doctor'], { env: { HOME: here.dir } })
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toMatch(/^✗ sandbox +the workspace .* contains the whole home folder.*\n +Start in the folder of one project\.$/m)
  })

  it('a broken configuration is one of the findings', async () => {
    using here = place({ 'mulligan.json': '{ "sandbox": { "netwrok": "none" } }' })
    const { code, stdout, stderr } = await here.run(['doctor'])
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toMatch(/^✗ config +.*netwrok[\s\S]*did you mean "network"\?[\s\S]*^✓ node/m)
    const json = JSON.parse((await here.run(['doctor', '--json'])).stdout)
    expect(json).toMatchObject({
      usable: false,
      checks: expect.arrayContaining([expect.objectContaining({ name: 'config', state: 'missing' })]),
    })
  })
})
