/** Checks how commands end, what they leave behind, what they output, and that normal work is possible. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bench } from './bench.fixture.ts'
import type { Check } from './check.fixture.ts'

const group =
  (name: Check['group']) =>
  (title: string, run: Check['run']): Check => ({ group: name, name: title, run })
const tree = group('process tree')
const output = group('output')
const cancel = group('cancellation')
const work = group('work')
const escapes = group('escape')
const egress = group('egress')
const secrets = group('secrets')

/** A child that outlives a shell on the host, but must not outlive one in the sandbox. */
const leftover = (name: string, script: (mark: string) => string): Check =>
  tree(name, async (bench) => {
    const [host, mark] = [`host-${randomUUID()}`, `left-${randomUUID()}`]
    await bench.outside(script(host))
    // A process that is about to start its program has no name yet.
    const isLeft = await bench.until(() => bench.processesWith(host).length > 0)
    for (const pid of bench.processesWith(host)) process.kill(pid, 'SIGKILL')
    assert.ok(isLeft, 'control: nothing was left outside either')
    const { stdout } = await bench.inside({ script: `${script(mark)}\necho over`, timeout: 60 })
    assert.equal(stdout, 'over\n')
    assert.deepEqual(bench.processesWith(mark), [])
  })

const sleeper = (mark: string) => `sh -c "sleep 300; : ${mark}"`

async function ends(bench: Bench, script: (mark: string) => string): Promise<void> {
  const mark = `ends-${randomUUID()}`
  const { reason, exitCode } = await bench.inside({ script: script(mark), timeout: 2 })
  assert.deepEqual([reason, exitCode], ['timeout', null])
  assert.deepEqual(bench.processesWith(mark), [])
}

export const BEHAVIOUR: readonly Check[] = [
  escapes('a repository inside a folder without one does not come out', async (bench) => {
    const workspace = bench.folder('bare')
    const sandbox = await bench.open({ workspace })
    assert.deepEqual(readdirSync(workspace), [])
    const plant = 'mkdir -p .git/hooks && echo x >.git/hooks/post-checkout'
    const { removed } = await bench.inside(plant, sandbox)
    assert.deepEqual(readdirSync(workspace), [])
    assert.deepEqual(
      removed?.map(({ path }) => path),
      [join(workspace, '.git')],
    )
    // It is kept, because a person may have created it meanwhile.
    assert.equal(readFileSync(join(removed?.[0]?.to ?? '', 'hooks/post-checkout'), 'utf8'), 'x\n')
    rmSync(dirname(removed?.[0]?.to ?? ''), { recursive: true })
    await sandbox.close()
    assert.deepEqual(readdirSync(workspace), [])
    assert.equal((await bench.outside(`mkdir p && cd p && ${plant} && cat .git/hooks/post-checkout; cd .. && rm -r p`)).stdout, 'x\n')
  }),
  escapes('a run with the workspace read-only writes nothing there, and sees no masked file', async (bench) => {
    const workspace = bench.folder('kept')
    writeFileSync(join(workspace, '.env'), 'KEY', { mode: 0o644 })
    writeFileSync(join(workspace, 'a.txt'), 'a\n', { mode: 0o666 })
    const sandbox = await bench.open({ workspace })
    const script = 'cat a.txt .env; echo x >a.txt; echo x >new; rm .env; echo t >/tmp/t; cat /tmp/t'
    const { stdout } = await bench.inside({ script, workspace: 'read-only', masks: ['.env'] }, sandbox)
    assert.equal(stdout, 'a\nt\n')
    assert.deepEqual([readFileSync(join(workspace, '.env'), 'utf8'), readFileSync(join(workspace, 'a.txt'), 'utf8')], ['KEY', 'a\n'])
    assert.equal(existsSync(join(workspace, 'new')), false)
    await bench.inside({ script: 'cat .env; echo x >new' }, sandbox)
    assert.equal(existsSync(join(workspace, 'new')), true, 'control: otherwise it writes')
    const { hold, by } = await sandbox.layers()
    assert.ok(hold === 'overlay' || /layers need bubblewrap/.test(by), by)
    if (hold === 'none') await assert.rejects(sandbox.openLayer(), { reason: 'unsupported' })
  }),
  escapes('a link at a protected path does not stay, nor does one above it', async (bench) => {
    const workspace = bench.folder('links')
    const sandbox = await bench.open({ workspace, protect: ['a/deep/one'] })
    const plant = 'mkdir -p evil/deep/one && ln -s evil a && ln -s evil .git && mkfifo pipe && ls a/deep'
    const { removed, stdout } = await bench.inside(plant, sandbox)
    assert.equal(stdout, 'one\n')
    for (const { to } of removed ?? []) rmSync(dirname(to), { recursive: true, force: true })
    assert.deepEqual(
      removed?.map(({ path }) => path).toSorted(),
      ['.git', 'a'].map((name) => join(workspace, name)),
    )
    assert.deepEqual(readdirSync(workspace).toSorted(), ['evil', 'pipe'])
    assert.equal((await bench.outside(`mkdir p && cd p && ${plant}; cd .. && rm -r p`)).stdout, 'one\n')
  }),
  escapes('a repository that a person makes stays, and its hooks are not written', async (bench) => {
    const workspace = bench.folder('later')
    const sandbox = await bench.open({ workspace })
    await bench.inside('true', sandbox)
    for (const name of ['hooks', 'objects', 'refs']) mkdirSync(join(workspace, '.git', name), { recursive: true })
    writeFileSync(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(workspace, '.git/config'), '[core]\n')
    bench.give(workspace)
    const plant = 'echo x >.git/hooks/pre-commit; echo x >>.git/config; echo x >.git/config.worktree; ls -A .git'
    const { removed } = await bench.inside(plant, sandbox)
    assert.deepEqual(
      removed?.map(({ path }) => path),
      [join(workspace, '.git/config.worktree')],
    )
    rmSync(dirname(removed?.[0]?.to ?? ''), { recursive: true })
    await sandbox.close()
    assert.deepEqual(readdirSync(join(workspace, '.git')).toSorted(), ['HEAD', 'config', 'hooks', 'objects', 'refs'])
    assert.deepEqual([readdirSync(join(workspace, '.git/hooks')), readFileSync(join(workspace, '.git/config'), 'utf8')], [[], '[core]\n'])
    const control = await bench.outside(`mkdir -p p/.git/hooks && cd p && ${plant}; cd .. && rm -r p`)
    assert.equal(control.stdout, 'config\nconfig.worktree\nhooks\n')
  }),
  escapes('a commondir in the repository is taken away again', async (bench) => {
    const plant = 'echo ../evil >.git/commondir; test -e .git/commondir && echo there'
    const control = await bench.outside(`${plant}; rm -f .git/commondir`)
    assert.equal(control.stdout, 'there\n')
    const { removed } = await bench.inside(plant)
    assert.equal(existsSync(join(bench.workspace, '.git/commondir')), false)
    assert.equal(readFileSync(removed?.[0]?.to ?? '', 'utf8'), '../evil\n')
    rmSync(dirname(removed?.[0]?.to ?? ''), { recursive: true })
  }),
  escapes('what is protected is neither made nor written nor moved away', async (bench) => {
    const workspace = bench.folder('protected')
    mkdirSync(join(workspace, 'there'))
    writeFileSync(join(workspace, 'there/tool.mjs'), 'ours\n')
    const sandbox = await bench.open({ workspace, protect: ['.own', 'there', 'a/deep/one'] })
    const plant =
      'for d in .own there a/deep/one; do mkdir -p $d; mv $d $d.x; rm -rf $d; mkdir -p $d; echo theirs >$d/tool.mjs; done; test -e .own && echo made'
    const { removed = [] } = await bench.inside(plant, sandbox)
    for (const { to } of removed) rmSync(dirname(to), { recursive: true, force: true })
    assert.equal(readFileSync(join(workspace, 'there/tool.mjs'), 'utf8'), 'ours\n')
    await sandbox.close()
    assert.deepEqual(readdirSync(workspace).toSorted(), ['.own.x', 'a', 'there'])
    assert.deepEqual(readdirSync(join(workspace, 'a/deep')), ['one.x'])
    const control = 'mkdir -p p/there && cd p && echo ours >there/tool.mjs && '
    const outside = await bench.outside(`${control}${plant}; cat .own/tool.mjs there/tool.mjs; cd .. && rm -r p`)
    assert.equal(outside.stdout, 'made\ntheirs\ntheirs\n')
  }),
  escapes('two sandboxes share neither home nor /tmp', async (bench) => {
    const other = await bench.open({ workspace: bench.folder('second') })
    await bench.inside('echo mine >/tmp/shared; echo mine >~/shared')
    assert.equal((await bench.inside('cat /tmp/shared ~/shared')).stdout, 'mine\nmine\n')
    assert.equal((await bench.inside('cat /tmp/shared ~/shared', other)).stdout, '')
  }),
  egress('no packet gets out', async (bench) => {
    const send = (word: string) =>
      `node -e 'const s = require("dgram").createSocket("udp4"); s.send("${word}", Number(process.env.UDP), "127.0.0.1", () => s.close())'`
    await bench.outside(send('from-outside'))
    assert.ok(await bench.until(() => bench.received().includes('from-outside')))
    await bench.inside(send('from-inside'))
    await bench.outside(send('after'))
    assert.ok(await bench.until(() => bench.received().includes('after')))
    assert.ok(!bench.received().includes('from-inside'))
  }),
  egress('no server inside is reached from the host', async (bench) => {
    const serve = (port: number) => `node -e 'require("net").createServer().listen(${port}, () => console.log("up"))'`
    const answers = async (port: number) =>
      (await bench.outside(`exec 2>/dev/null; exec 3<>/dev/tcp/127.0.0.1/${port} && echo yes`)).stdout === 'yes\n'
    const port = 20_000 + (process.pid % 20_000)
    const control = bench.outside(`timeout 20 ${serve(port)}`)
    assert.ok(await bench.until(() => answers(port)))
    const pids = bench.processesWith(`listen(${port},`)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await control
    const running = await bench.sandbox.start({ script: serve(port) })
    assert.ok(await bench.until(() => running.output().stdout === 'up\n'))
    assert.equal(await answers(port), false)
    await running.kill()
  }),
  egress('a server and its client inside reach each other', async (bench) => {
    const talk = `node -e 'const s = require("http").createServer((_, r) => r.end("hello")).listen(0, async () => { console.log(await (await fetch("http://localhost:" + s.address().port)).text()); process.exit() })'`
    assert.equal((await bench.inside(talk)).stdout, 'hello\n')
  }),
  secrets('a key is let through by its name only', async (bench) => {
    const sandbox = await bench.open({ env: ['PLANTED_KEY'] })
    const { stdout } = await bench.inside('echo "$PLANTED_KEY/$OPENAI_API_KEY"', sandbox)
    assert.match(stdout, /^planted-key-.+\/\n$/)
  }),

  leftover('a child in the background goes with its command', (mark) => `${sleeper(mark)} >/dev/null 2>&1 &`),
  leftover(
    'a child in a session of its own goes with its command',
    (mark) => `setsid ${sleeper(mark)} >/dev/null 2>&1 </dev/null & sleep 0.3`,
  ),
  leftover(
    'a daemon that forked twice goes with its command',
    (mark) => `(setsid sh -c '${sleeper(mark).replaceAll("'", '')} &' >/dev/null 2>&1 </dev/null &); sleep 0.3`,
  ),
  leftover(
    'a child deaf to SIGHUP and SIGTERM goes with its command',
    (mark) => `sh -c "trap '' HUP TERM INT; sleep 300; : ${mark}" >/dev/null 2>&1 & sleep 0.3`,
  ),
  tree('a child that holds the pipe does not hold the command', async (bench) => {
    const mark = `pipe-${randomUUID()}`
    const { stdout, reason } = await bench.inside({ script: `${sleeper(mark)} & echo over`, timeout: 60 })
    assert.deepEqual([stdout, reason], ['over\n', 'exit'])
    assert.deepEqual(bench.processesWith(mark), [])
  }),
  tree('time ends a command that ignores SIGTERM', (bench) =>
    ends(bench, (mark) => `trap '' TERM INT HUP; while :; do sleep 1; : ${mark}; done`),
  ),
  tree('time ends grandchildren in sessions of their own', (bench) =>
    ends(bench, (mark) => `setsid ${sleeper(mark)} & setsid ${sleeper(mark)}; wait`),
  ),
  tree('time ends a stopped process', (bench) => ends(bench, (mark) => `${sleeper(mark)} & kill -STOP $!; wait`)),
  tree('closing ends what runs in the background', async (bench) => {
    const mark = `close-${randomUUID()}`
    const sandbox = await bench.open()
    const running = await sandbox.start({ script: `setsid ${sleeper(mark)} & ${sleeper(mark)}` })
    assert.ok(await bench.until(() => bench.processesWith(mark).length > 1))
    await sandbox.close()
    assert.equal((await running.ended).exitCode, null)
    assert.deepEqual(bench.processesWith(mark), [])
  }),

  output('stdout, stderr and the exit code are distinguished', async (bench) => {
    const { stdout, stderr, exitCode, reason } = await bench.inside('echo out; echo err >&2; exit 7')
    assert.deepEqual([stdout, stderr, exitCode, reason], ['out\n', 'err\n', 7, 'exit'])
  }),
  output('characters of several bytes stay whole', async (bench) => {
    const { stdout } = await bench.inside("for i in $(seq 2000); do printf 'é漢🙂'; [ $((i % 97)) = 0 ] && sleep 0.001; done")
    assert.equal(stdout, 'é漢🙂'.repeat(2000))
  }),
  output('bytes that are not text do no harm', async (bench) => {
    const { stdout, exitCode } = await bench.inside("printf 'a\\377\\376b'")
    assert.deepEqual([stdout, exitCode], ['a\ufffd\ufffdb', 0])
  }),
  output('a program that does not exist is 127', async (bench) => {
    assert.equal((await bench.inside('no-such-program-here')).exitCode, 127)
    assert.equal((await bench.inside({ argv: ['no-such-program-here'] })).exitCode, 127)
  }),
  output('death by a signal is seen', async (bench) => {
    const { exitCode, signal } = await bench.inside('kill -SEGV $$')
    assert.ok(exitCode === 139 || signal === 'SIGSEGV', `${exitCode} ${signal}`)
  }),
  output('stdin is empty, or what was given', async (bench) => {
    assert.equal((await bench.inside('cat; echo over')).stdout, 'over\n')
    assert.equal((await bench.inside({ script: 'cat', stdin: 'in€' })).stdout, 'in€')
  }),
  output('it is seen as it comes', async (bench) => {
    const seen: string[] = []
    await bench.inside({ script: 'echo one; echo two >&2', onOutput: (text, stream) => seen.push(`${stream} ${text}`) })
    assert.deepEqual(seen.toSorted(), ['stderr two\n', 'stdout one\n'])
  }),

  cancel('an abort ends the whole tree, and keeps what came', async (bench) => {
    const mark = `abort-${randomUUID()}`
    const controller = new AbortController()
    const ended = bench.inside({
      script: `setsid ${sleeper(mark)} & echo begun; ${sleeper(mark)}`,
      signal: controller.signal,
      onOutput: () => controller.abort(),
    })
    const { reason, stdout, exitCode } = await ended
    assert.deepEqual([reason, stdout, exitCode], ['aborted', 'begun\n', null])
    assert.deepEqual(bench.processesWith(mark), [])
  }),
  cancel('what is aborted already does not run', async (bench) => {
    const file = join(bench.workspace, `ran-${randomUUID()}`)
    const { reason } = await bench.inside({ script: `touch ${file}`, signal: AbortSignal.abort() })
    assert.deepEqual([reason, existsSync(file)], ['aborted', false])
  }),
  cancel('an abort at any moment of the start leaves nothing', async (bench) => {
    const mark = `early-${randomUUID()}`
    const moments = Array.from({ length: 20 }, (_, at) => at * 4)
    const reasons = await Promise.all(
      moments.map(async (after) => {
        const controller = new AbortController()
        setTimeout(() => controller.abort(), after)
        return (await bench.inside({ script: sleeper(mark), signal: controller.signal })).reason
      }),
    )
    assert.deepEqual([...new Set(reasons)], ['aborted'])
    assert.deepEqual(bench.processesWith(mark), [])
  }),
  cancel('the next command runs as ever', async (bench) => {
    await bench.inside({ script: 'sleep 100', timeout: 0.5 })
    assert.equal((await bench.inside('echo alive')).stdout, 'alive\n')
  }),

  work('the small programs of these checks run inside', async (bench) => {
    assert.equal((await bench.inside('"$PWD/syscalls/none"')).exitCode, 0)
  }),
  work('what is written belongs to the owner of the workspace', async (bench) => {
    await bench.inside('mkdir -p made && echo x >made/file')
    const [owner, made] = [statSync(bench.workspace).uid, lstatSync(join(bench.workspace, 'made/file')).uid]
    assert.equal(made, owner)
  }),
  work('files of the workspace are read and changed', async (bench) => {
    writeFileSync(join(bench.workspace, 'notes.txt'), 'before')
    const { stdout } = await bench.inside('cat notes.txt; echo after >made.txt')
    assert.deepEqual([stdout, readFileSync(join(bench.workspace, 'made.txt'), 'utf8')], ['before', 'after\n'])
  }),
  work('node runs, and knows who it is', async (bench) => {
    const { stdout, stderr } = await bench.inside(
      `node -e 'console.log(require("os").userInfo().username.length > 0, process.cwd() === process.env.PWD)'`,
    )
    assert.equal(stdout, 'true true\n', stderr)
  }),
  work("the project's tests run", async (bench) => {
    writeFileSync(join(bench.workspace, 'a.test.mjs'), "import test from 'node:test'\ntest('a', () => {})\n")
    const { stdout, exitCode } = await bench.inside('node --test')
    assert.equal(exitCode, 0, stdout)
  }),
  work('a program of a toolchain in the home runs', async (bench) => {
    const { stdout } = await bench.inside('"$HOST_HOME/.cargo/bin/planted-tool"; "$HOST_HOME/.nvm/versions/node/v1.0.0/bin/planted-node"')
    assert.equal(stdout, 'tool\ntool\n')
  }),
  work('a strict sandbox shows no toolchain', async (bench) => {
    const sandbox = await bench.open({ profile: 'strict' })
    assert.equal((await bench.inside('"$HOST_HOME/.cargo/bin/planted-tool"', sandbox)).exitCode, 127)
  }),
  work('home and /tmp last from command to command', async (bench) => {
    await bench.inside('echo 1 >/tmp/lasts; echo 2 >~/lasts')
    assert.equal((await bench.inside('cat /tmp/lasts ~/lasts')).stdout, '1\n2\n')
  }),
  work('the working directory and the environment are those that were asked for', async (bench) => {
    const { stdout } = await bench.inside({ script: 'basename "$PWD"; echo "$GREETING"', cwd: 'syscalls', env: { GREETING: 'hello' } })
    assert.equal(stdout, 'syscalls\nhello\n')
  }),
  work('a folder of the settings is shown, to be read only', async (bench) => {
    const shown = bench.folder('shown')
    writeFileSync(join(shown, 'data'), 'shown')
    const sandbox = await bench.open({ mounts: [{ path: shown }] })
    const { stdout } = await bench.inside(`cat ${shown}/data; touch ${shown}/new 2>/dev/null || echo " read-only"`, sandbox)
    assert.equal(stdout, 'shown read-only\n')
  }),
]
