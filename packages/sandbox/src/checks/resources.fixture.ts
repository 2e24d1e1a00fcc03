/** Checks the resource limits of a command. Each control shows that the same script succeeds without limits. */
import assert from 'node:assert/strict'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from './check.fixture.ts'

const MB = 1024 * 1024
const check = (name: string, run: Check['run']): Check => ({ group: 'resources', name, run })

/** Starts 150 children at once and prints how many there were. */
const MANY = `node -e 'const cp = require("child_process"); let n = 0, open = 150; const all = [];
for (let i = 0; i < 150; i++) { const c = cp.spawn("sleep", ["20"]); c.on("spawn", () => { n++; done() }); c.on("error", done); all.push(c) }
function done() { if (--open === 0) { console.log(n); for (const c of all) if (c.pid) c.kill("SIGKILL") } }'`
/** Prints the total share of a core that eight threads get: on a busy machine, a single thread may get less than the limit anyway. */
const SPIN = `node -e 'const { Worker } = require("worker_threads"), start = performance.now(), before = process.cpuUsage()
for (let i = 0; i < 8; i++) new Worker("const end = Date.now() + 600; while (Date.now() < end);", { eval: true })
process.on("exit", () => { const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000 / (performance.now() - start)) })'`
const GROW = `node -e 'const all = []; for (let i = 0; i < 40; i++) all.push(Buffer.alloc(10e6, 1)); console.log("done", all.length)'`
/** Starts eight processes of about 60 MB each, all running at the same time. */
const TOGETHER = `for i in 1 2 3 4 5 6 7 8; do
  { x=$(head -c 20000000 /dev/zero | tr '\\0' a); [ \${#x} = 20000000 ] && sleep 3 && echo ok; } & pids="$pids $!"
done
bad=0; for p in $pids; do wait $p || bad=1; done; exit $bad`

export const RESOURCES: readonly Check[] = [
  check('processes are counted', async (bench) => {
    const control = await bench.outside(MANY)
    assert.equal(control.stdout.trim(), '150')
    const sandbox = await bench.open({ limits: { processes: 60 } })
    const { stdout, stderr } = await bench.inside({ script: MANY, timeout: 60 }, sandbox)
    const started = Number(stdout.trim().split('\n').at(-1) || 0)
    assert.ok(started < 60, `${started} were started: ${stderr}`)
  }),
  check('a fork bomb ends with its time, and nothing of it is left', async (bench) => {
    const sandbox = await bench.open({ limits: { processes: 60 } })
    const mark = `bomb-${bench.planted.MARK}`
    const { reason } = await bench.inside({ script: `bomb() { bomb ${mark} | bomb & }; bomb; exec sleep 100`, timeout: 3 }, sandbox)
    assert.ok(reason === 'timeout' || reason === 'memory', reason)
    const { stdout } = await bench.inside({ script: 'echo alive', timeout: 30 }, sandbox)
    assert.equal(stdout, 'alive\n')
    assert.deepEqual(bench.processesWith(mark), [])
  }),
  check('one process over the memory', async (bench) => {
    assert.match((await bench.outside(GROW)).stdout, /done 40/)
    const sandbox = await bench.open({ limits: { memory: 160 * MB } })
    const { stdout, reason, exitCode } = await bench.inside({ script: GROW, timeout: 60 }, sandbox)
    assert.doesNotMatch(stdout, /done/)
    assert.equal(reason, 'memory', `exit code ${exitCode}`)
  }),
  check('many processes over the memory together', async (bench) => {
    assert.equal((await bench.outside(TOGETHER)).stdout, 'ok\n'.repeat(8))
    const sandbox = await bench.open({ limits: { memory: 120 * MB } })
    const { stdout, reason } = await bench.inside({ script: TOGETHER, timeout: 60 }, sandbox)
    assert.ok(stdout.split('ok').length - 1 < 8, stdout)
    assert.equal(reason, 'memory')
  }),
  check('shared memory counts as memory', async (bench) => {
    const fill = 'head -c 150000000 /dev/zero >/dev/shm/mulligan-check && echo done; rm -f /dev/shm/mulligan-check'
    assert.match((await bench.outside(fill)).stdout, /done/)
    const sandbox = await bench.open({ limits: { memory: 96 * MB } })
    const { stdout } = await bench.inside({ script: fill, timeout: 60 }, sandbox)
    assert.doesNotMatch(stdout, /done/)
  }),
  check('the disk is not filled', async (bench) => {
    const fill = 'for i in 1 2 3 4 5 6 7 8 9 10; do head -c 40000000 /dev/zero >>big || exit 1; sync big; sleep 0.3; done; echo done'
    assert.match((await bench.outside(fill)).stdout, /done/)
    rmSync(join(bench.twin, 'big'))
    const sandbox = await bench.open({ limits: { disk: 50 * MB } })
    const { stdout, reason } = await bench.inside({ script: fill, timeout: 60 }, sandbox)
    const { size } = statSync(join(bench.workspace, 'big'))
    rmSync(join(bench.workspace, 'big'))
    assert.doesNotMatch(stdout, /done/, reason)
    assert.ok(size < 300e6, `${size} bytes were written`)
  }),
  check('the processor is shared out', async (bench) => {
    const control = Number((await bench.outside(SPIN)).stdout)
    const sandbox = await bench.open({ limits: { cpus: 0.1 } })
    if (sandbox.enforces.cpu.hold === 'none') return
    const share = Number((await bench.inside({ script: SPIN, timeout: 60 }, sandbox)).stdout)
    assert.ok(share > 0 && share < 0.35 && share < control, `${share} of a core, ${control} outside`)
  }),
  check('endless output ends the command, and head and tail are kept', async (bench) => {
    const sandbox = await bench.open({ limits: { output: 10_000, outputStop: 1_000_000 } })
    const { reason, stdout, droppedBytes } = await bench.inside({ script: 'echo first; yes', timeout: 60 }, sandbox)
    assert.equal(reason, 'output')
    assert.match(stdout, /^first\n/)
    assert.ok(stdout.length < 20_000, `${stdout.length} kept`)
    assert.ok(droppedBytes > 900_000, `${droppedBytes} dropped`)
  }),
  check('one endless line ends the command', async (bench) => {
    const sandbox = await bench.open({ limits: { output: 10_000, outputStop: 1_000_000 } })
    const { reason, stdout } = await bench.inside({ script: "cat /dev/zero | tr '\\0' x", timeout: 60 }, sandbox)
    assert.equal(reason, 'output')
    assert.ok(stdout.length < 20_000, `${stdout.length} kept`)
  }),
  check('a command that prints far more than is kept ends by itself', async (bench) => {
    const chatty = `echo first; head -c 14000000 /dev/zero | tr '\\0' x; echo; echo last; head -c 3000000 /dev/zero | tr '\\0' y >&2; exit 3`
    const control = await bench.outside(`exec 2>/dev/null; ${chatty}`)
    assert.deepEqual([control.exitCode, control.stdout.length], [3, 14_000_012])
    const { reason, exitCode, stdout, stderr, droppedBytes } = await bench.inside({ script: chatty, timeout: 120 })
    assert.deepEqual([reason, exitCode], ['exit', 3])
    assert.match(stdout, /^first\n.*\nlast\n$/s)
    assert.ok(stdout.length < 250_000 && stderr.length < 250_000, `${stdout.length} and ${stderr.length} kept`)
    assert.equal(droppedBytes, 14_000_012 + 3_000_000 - 2 * 200_000)
  }),
  check('output below the limit is not touched', async (bench) => {
    const { reason, stdout, droppedBytes } = await bench.inside("head -c 150000 /dev/zero | tr '\\0' x")
    assert.deepEqual([reason, stdout.length, droppedBytes], ['exit', 150_000, 0])
  }),
  check('a script of 1 MB runs', async (bench) => {
    const { stdout, stderr } = await bench.inside(`${'# a line that says nothing at all\n'.repeat(32_000)}echo the end`)
    assert.equal(stdout, 'the end\n', stderr)
  }),
  check('200 commands at once', async (bench) => {
    const all = await Promise.all(Array.from({ length: 200 }, (_, at) => bench.inside({ script: `echo ${at}`, timeout: 300 })))
    assert.deepEqual(
      all.map(({ stdout }) => stdout),
      all.map((_, at) => `${at}\n`),
    )
  }),
]
