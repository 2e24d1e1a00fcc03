/** Checks servers in the background: they can be reached over the network shared by the commands of a sandbox, and in no other way. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check } from './check.fixture.ts'
import { syscallProgram } from './syscall-program.fixture.ts'

/** Attaches to a process: PTRACE_ATTACH. */
const ptrace = (pid: number) => syscallProgram(process.arch === 'arm64' ? 117 : 101, [16, pid])

export const SERVERS: readonly Check[] = [
  {
    group: 'egress',
    name: 'a server in the background is reached by later commands as long as it runs, and from no other sandbox',
    run: async (bench) => {
      const serve = 'require("http").createServer((_, r) => r.end("hello")).listen(3123, () => console.log("up"))'
      const get = `node -e 'fetch("http://localhost:3123").then((r) => r.text()).then(console.log, () => console.log("none"))'`
      const running = await bench.sandbox.start({ script: `node -e '${serve}'` })
      assert.ok(await bench.until(() => running.output().stdout === 'up\n'))
      assert.equal((await bench.inside(get)).stdout, 'hello\n')
      assert.equal((await bench.inside({ script: get, workspace: 'read-only' })).stdout, 'hello\n')
      assert.equal((await bench.inside(get, await bench.open({ workspace: bench.folder('other') }))).stdout, 'none\n')
      await running.kill()
      assert.equal((await bench.inside(get)).stdout, 'none\n')
    },
  },
  {
    group: 'escape',
    name: 'a command that may not write gets nowhere through one that may',
    run: async (bench) => {
      const mark = `direct-${randomUUID()}`
      // Accessible to everyone, in a folder that only one of the two may write to.
      const running = await bench.sandbox.start({ script: `exec 7>direct; echo up; sleep 300; : ${mark}` })
      assert.ok(await bench.until(() => running.output().stdout === 'up\n'))
      const [pid = 0] = bench.processesWith(mark)
      writeFileSync(join(bench.workspace, 'attach'), ptrace(pid), { mode: 0o755 })
      writeFileSync(join(bench.twin, 'attach'), ptrace(Number(bench.planted.VICTIM)), { mode: 0o755 })
      const reach = `for p in /proc/[0-9]*; do grep -aq ${mark} $p/cmdline || continue
       for f in $p/root$PWD/reached $p/cwd/reached $p/fd/7; do { echo x >$f; } 2>/dev/null && echo \${f#$p/}; done
       done 2>/dev/null; ./attach && echo attached; echo tried`
      const control = await bench.outside(`exec 7>direct; bash -c 'exec -a ${mark} sleep 300' >/dev/null & ${reach}; kill %1`)
      // The control also wrote to the workspace through the command's processes.
      rmSync(join(bench.workspace, 'reached'), { force: true })
      truncateSync(join(bench.workspace, 'direct'))
      if (bench.isRoot) assert.match(control.stdout, /root.*cwd.*fd\/7.*attached.*tried/s, 'control: outside it is reached')
      const { stdout, stderr } = await bench.inside({ script: reach, workspace: 'read-only' })
      assert.equal(stdout, 'tried\n', stderr)
      if ((await bench.sandbox.layers()).hold === 'overlay') {
        const layer = await bench.sandbox.openLayer()
        const onLayer = await layer.run({ script: reach })
        assert.doesNotMatch(onLayer.stdout, /attached/)
        await layer.discard()
      }
      assert.deepEqual([existsSync(join(bench.workspace, 'reached')), readFileSync(join(bench.workspace, 'direct'), 'utf8')], [false, ''])
      await running.kill()
    },
  },
]
