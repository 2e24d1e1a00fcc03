/** Checks of layers, for any user and any owner of the workspace. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LayerError, layerHint, listLayers } from '../index.ts'
import { ended, type LayerCheck, script, told, treeOf } from './bench.fixture.ts'
import { PRIVATE_CHECKS } from './keep-private.fixture.ts'

const FILES = {
  'a.txt': 'one\n',
  'src/b.txt': 'two\n',
  'src/deep/c.txt': 'three\n',
  'run.sh': '#!/bin/sh\n',
  link: '-> a.txt',
  'empty/': '',
}
const BUILD = (paths: readonly { readonly path: string }[]) =>
  paths.map(({ path }) => path).filter((path) => /(^|\/)(dist|node_modules|[^/]*\.log)$/.test(path))
const reason = (wanted: LayerError['reason']) => (error: unknown) => error instanceof LayerError && error.reason === wanted

/** What a command does, and the changes reported for it. */
const KINDS: readonly (readonly [string, readonly string[]])[] = [
  ['true', []],
  ['echo new >new.txt', ['added new.txt']],
  ['echo more >>a.txt', ['modified a.txt']],
  ['printf "ONE\\n" >a.txt', ['modified a.txt']],
  ['printf "one\\n" >a.txt; touch run.sh; chmod 644 a.txt', []],
  ['cp -p a.txt t && mv t a.txt; echo x >t; rm t', []],
  ['chmod 600 a.txt; chmod 700 src', ['mode a.txt', 'mode src']],
  ['chmod 700 .', ['mode .']],
  ['rm a.txt', ['deleted a.txt']],
  ['rm link; ln -s run.sh link', ['modified link']],
  ['rm link; cp a.txt link', ['modified link']],
  ['ln -s /etc/passwd out; mkdir -p x/y', ['added out', 'added x', 'added x/y']],
  ['rm -r src', ['deleted src', 'deleted src/b.txt', 'deleted src/deep', 'deleted src/deep/c.txt']],
  ['rm -r src; mkdir src', ['deleted src/b.txt', 'deleted src/deep', 'deleted src/deep/c.txt']],
  ['rm -r src; mkdir -p src/deep; echo two >src/b.txt', ['deleted src/deep/c.txt']],
  ['rm -r src; echo x >src', ['modified src', 'deleted src/b.txt', 'deleted src/deep', 'deleted src/deep/c.txt']],
  ['rm a.txt; mkdir a.txt; echo x >a.txt/in', ['modified a.txt', 'added a.txt/in']],
  ['rm -r src; ln -s empty src', ['modified src', 'deleted src/b.txt', 'deleted src/deep', 'deleted src/deep/c.txt']],
  ['mv src/deep moved', ['added moved', 'added moved/c.txt', 'deleted src/deep', 'deleted src/deep/c.txt']],
  ['rmdir empty', ['deleted empty']],
  ['ln a.txt hard', ['added hard']],
  ['head -c 100000 /dev/zero >zeros', ['added zeros']],
  ['mkfifo pipe', ['added pipe']],
]

/** Used because a program for this is not always installed. Takes path, name and value. */
const SETXATTR = `while (@ARGV) { my ($path, $name, $value) = splice(@ARGV, 0, 3); $name = "user.overlay.$name";
  print syscall(${process.arch === 'arm64' ? 5 : 188}, $path, $name, $value, length $value, 0) == 0 ? "set\\n" : "refused\\n" }`

export const LAYER_CHECKS: readonly LayerCheck[] = [
  ...PRIVATE_CHECKS,
  {
    name: 'a command writes to its layer; the workspace stays as it is',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      const sandbox = await bench.open(workspace)
      const before = treeOf(workspace)
      const destroy = script('echo x >>a.txt; rm -rf src; chmod 600 run.sh; cat a.txt')
      const layer = await sandbox.openLayer()
      assert.equal((await layer.run(destroy)).stdout, 'one\nx\n')
      assert.deepEqual(treeOf(workspace), before)
      assert.ok((await layer.changes()).changes.length > 2)
      await layer.discard()
      await assert.rejects(layer.changes(), reason('gone'))
      await sandbox.run(destroy)
      assert.notDeepEqual(treeOf(workspace), before, 'control: without a layer it changes the workspace')
    },
  },
  {
    name: 'every kind of change is told, and nothing else',
    run: async (bench) => {
      const workspace = bench.workspace({ ...FILES, '.git/HEAD': 'ref: refs/heads/main\n' })
      const sandbox = await bench.open(workspace)
      const before = treeOf(workspace)
      for (const [does, expected] of KINDS) {
        const layer = await sandbox.openLayer()
        const { stderr } = await layer.run(script(does))
        assert.deepEqual(told(await layer.changes()), expected, `${does}: ${stderr}`)
        await layer.discard()
      }
      assert.deepEqual(treeOf(workspace), before)
    },
  },
  {
    name: 'a change has what it takes to make it: bytes, mode, target, time, and what was there before',
    run: async (bench) => {
      const sandbox = await bench.open(bench.workspace(FILES))
      const layer = await sandbox.openLayer()
      await layer.run(script('printf "a\\0b" >bin; chmod 751 bin; echo 2 >a.txt; touch -d @1000000000 a.txt; mkfifo p; ln -s a b'))
      const { changes, bytes } = await layer.changes()
      const by = Object.fromEntries(changes.map((change) => [change.path, change]))
      assert.deepEqual(
        { ...by['bin']?.after, mtimeMs: 0, sha256: '' },
        { type: 'file', mode: 0o751, size: 3, mtimeMs: 0, sha256: '', binary: true },
      )
      assert.equal(by['a.txt']?.after?.type === 'file' && by['a.txt'].after.mtimeMs, 1e12)
      assert.equal(by['a.txt']?.before?.type === 'file' && by['a.txt'].before.size, 4)
      assert.deepEqual(by['b']?.after, { type: 'link', target: 'a' })
      assert.equal(by['p']?.unsupported, 'a named pipe')
      assert.equal(bytes, 5)
      const file = await layer.open('bin')
      assert.equal(String(await file.readFile()), 'a\0b')
      await file.close()
      await assert.rejects(layer.open('p'), reason('path'))
    },
  },
  {
    name: 'no link of a command leads the reader out of the layer',
    run: async (bench) => {
      const secret = join(bench.base, 'secret')
      mkdirSync(secret, { recursive: true })
      writeFileSync(join(secret, 'b.txt'), 'secret')
      const sandbox = await bench.open(bench.workspace(FILES))
      const layer = await sandbox.openLayer()
      await layer.run(script(`rm -r src; ln -s ${secret} src; ln -s ${secret}/b.txt file; ln -s / root`))
      assert.deepEqual(
        (await layer.changes()).changes.filter(({ kind }) => kind !== 'deleted').map(({ path, after }) => [path, after?.type]),
        [
          ['file', 'link'],
          ['root', 'link'],
          ['src', 'link'],
        ],
      )
      for (const path of ['src/b.txt', 'file', 'src', 'root/etc/passwd', '../lower/a.txt', '', '.', './src', 'a//b', '/etc/passwd', 'nope'])
        await assert.rejects(layer.open(path), reason('path'), path)
    },
  },
  {
    name: 'what a command closes against its own user is read anyway, and stays closed',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      const sandbox = await bench.open(workspace)
      const layer = await sandbox.openLayer()
      await layer.run(
        script('echo secret >src/x; chmod 000 src/x src/deep; chmod 000 src; mkdir -p n/m; echo y >n/m/o; chmod 0 n/m/o n/m n'),
      )
      const expected = ['added n', 'added n/m', 'added n/m/o', 'mode src', 'mode src/deep', 'added src/x']
      for (let at = 0; at < 2; at++) assert.deepEqual(told(await layer.changes()), expected)
      const { changes } = await layer.changes()
      assert.deepEqual(new Set(changes.map(({ after }) => (after && 'mode' in after ? after.mode : -1))), new Set([0]))
      const file = await layer.open('n/m/o')
      assert.equal(String(await file.readFile()), 'y\n')
      await file.close()
      await layer.discard()
      assert.deepEqual(
        readdirSync(bench.stateFolder).filter((name) => name === layer.id),
        [],
      )
    },
  },
  {
    name: 'masks: a secret is seen empty, can be neither changed nor moved, and is not told of',
    run: async (bench) => {
      const secrets = { '.env': 'KEY=1', 'keys/a.pem': 'PEM', 'conf/.env': 'KEY=2', to: '-> conf/.env' }
      const workspace = bench.workspace({ ...FILES, ...secrets })
      const sandbox = await bench.open(workspace)
      const look = 'cat .env keys/* conf/.env to; ls keys'
      assert.match((await ended((await sandbox.openLayer()).run(script(look)))).stdout, /KEY=1PEMKEY=2/, 'control: without masks')
      const layer = await sandbox.openLayer({ masks: ['.env', 'keys', 'to', 'not-there', '../outside', '.'] })
      const { stdout } = await ended(
        layer.run(
          script(
            `${look}; echo x >.env; echo x >keys/new; mv .env e2; mv keys k2; mv conf c2; rm -rf .env keys conf; ln .env h; cat e2 k2/* c2/.env h; chmod 777 .env; true`,
          ),
        ),
      )
      assert.doesNotMatch(stdout, /KEY|PEM/)
      const paths = (await layer.changes()).changes.map(({ path }) => path)
      assert.deepEqual(
        paths.filter((path) => ['.env', 'keys', 'conf/.env', 'to', 'not-there'].some((one) => path === one || path.startsWith(`${one}/`))),
        [],
      )
      assert.equal(readFileSync(join(workspace, '.env'), 'utf8'), 'KEY=1')
      // No copy of it exists either.
      for (const path of ['.env', 'keys', 'conf/.env'])
        assert.equal(existsSync(join(bench.stateFolder, layer.id, 'upper', path)), false, path)
    },
  },
  {
    name: 'what is ignored stays with the session: later commands see it, the workspace does not',
    run: async (bench) => {
      const workspace = bench.workspace({ ...FILES, 'dist/old.js': 'old', 'src/x.log': 'log' })
      const sandbox = await bench.open(workspace)
      const before = treeOf(workspace)
      const step = async (text: string, cwd?: string) => {
        const layer = await sandbox.openLayer({ session: 's', ignored: BUILD })
        const { stdout } = await ended(layer.run({ script: text, ...(cwd !== undefined && { cwd }) }))
        const set = await layer.changes()
        await layer.keepIgnored()
        assert.equal((await layer.changes()).hash, set.hash)
        await layer.discard()
        assert.deepEqual(treeOf(workspace), before, text)
        return { stdout, told: told(set), ignored: set.ignored }
      }
      assert.deepEqual(
        await step('mkdir -p node_modules/p; echo 1 >node_modules/p/i; echo new >dist/new.js; rm src/x.log; echo b >a.txt'),
        {
          stdout: '',
          told: ['modified a.txt'],
          ignored: ['dist', 'node_modules', 'src/x.log'],
        },
      )
      const seen = await step('cat a.txt node_modules/p/i dist/*; ls src; echo 2 >>node_modules/p/i; rm dist/old.js; echo y >src/y.log')
      assert.equal(seen.stdout, 'one\n1\nnew\noldb.txt\ndeep\n')
      assert.deepEqual(seen.told, [])
      assert.equal((await step('cat i; ls ../../dist; ls ../../src', 'node_modules/p')).stdout, '1\n2\nnew.js\nb.txt\ndeep\ny.log\n')
      await step('rm -r dist node_modules/p; mkdir dist; echo z >dist/z; echo x >src/x.log')
      assert.equal((await step('ls dist node_modules; cat src/x.log')).stdout, 'dist:\nz\n\nnode_modules:\nx\n')
      // In the form in which they would be kept.
      const kept = await sandbox.privateLayer({ session: 's' })
      assert.deepEqual((await kept.changed()).toSorted(), ['dist/old.js', 'dist/z', 'node_modules', 'src/x.log', 'src/y.log'])
      // Another session sees none of it; a later layer of the same session sees all of it.
      const other = await sandbox.openLayer({ session: 't' })
      assert.equal((await other.run(script('cat dist/*'))).stdout, 'old')
      await sandbox.close()
      const again = await (await bench.open(workspace)).openLayer({ session: 's' })
      assert.equal((await again.run(script('cat dist/*'))).stdout, 'z\n')
    },
  },
  {
    name: 'the private layer does not hold on to what the workspace no longer has',
    run: async (bench) => {
      const workspace = bench.workspace({ 'pkg/a': 'a' })
      const sandbox = await bench.open(workspace)
      const layer = await sandbox.openLayer({ ignored: BUILD })
      await layer.run(script('mkdir pkg/dist fresh fresh/dist; echo x >pkg/dist/x; echo y >fresh/dist/y'))
      await layer.keepIgnored()
      assert.deepEqual(told(await layer.changes()), ['added fresh'])
      assert.deepEqual((await layer.changes()).ignored, ['fresh/dist'], 'its folder was not kept yet')
      mkdirSync(join(workspace, 'fresh'))
      await layer.keepIgnored()
      await layer.discard()
      chmodSync(join(workspace, 'pkg'), 0o711)
      const look = async () => {
        const next = await sandbox.openLayer({ ignored: BUILD })
        const { stdout } = await ended(next.run(script('stat -c %a pkg; ls pkg; cat fresh/dist/y')))
        assert.deepEqual(told(await next.changes()), [])
        await next.discard()
        return stdout
      }
      assert.equal(await look(), '711\na\ndist\ny\n')
      rmSync(join(workspace, 'pkg'), { recursive: true })
      assert.equal(await look(), 'y\n')
    },
  },
  {
    name: 'a command that was cut off takes its layer with it',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      const sandbox = await bench.open(workspace)
      const before = treeOf(workspace)
      const timed = await sandbox.openLayer()
      assert.equal((await ended(timed.run({ script: 'rm -r src; sleep 100', timeout: 0.5 }))).reason, 'timeout')
      const stop = new AbortController()
      const aborted = await sandbox.openLayer()
      const running = ended(
        aborted.run({ script: 'echo x >a.txt; echo began; sleep 100', signal: stop.signal, onOutput: () => stop.abort() }),
      )
      await assert.rejects(aborted.changes(), reason('busy'))
      assert.equal((await running).reason, 'aborted')
      for (const layer of [timed, aborted]) {
        await assert.rejects(layer.changes(), reason('gone'))
        assert.equal(existsSync(join(bench.stateFolder, layer.id)), false)
      }
      const failed = await sandbox.openLayer()
      assert.equal((await ended(failed.run(script('echo x >new; exit 3')))).exitCode, 3)
      assert.deepEqual(told(await failed.changes()), ['added new'], 'one that failed by itself is decided about')
      assert.deepEqual(treeOf(workspace), before)
    },
  },
  {
    name: 'a layer is bounded in size',
    run: async (bench) => {
      const sandbox = await bench.open(bench.workspace(FILES), { limits: { disk: 1024 * 1024 } })
      const layer = await sandbox.openLayer()
      // Sparse files, which do not show up in the free space.
      await layer.run(script('for i in 1 2 3; do truncate -s 900K big$i; done'))
      await assert.rejects(layer.changes(), reason('bytes'))
      const one = await sandbox.openLayer()
      await one.run(script('truncate -s 900K big'))
      assert.deepEqual(told(await one.changes()), ['added big'])
    },
  },
  {
    name: 'git works in a layer; its own files and what is run outside are distinguished',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      execFileSync('git', ['-c', 'safe.directory=*', 'init', '-q', '--template=', workspace])
      mkdirSync(join(workspace, '.git/hooks'))
      if (!bench.isRoots && process.getuid?.() === 0) execFileSync('chown', ['-R', '1000:1000', workspace])
      const sandbox = await bench.open(workspace)
      const before = treeOf(workspace)
      const layer = await sandbox.openLayer()
      const as = 'git -c user.name=a -c user.email=a@b'
      const does = `git add . && ${as} commit -qm first && git log --format=%s && git config core.fsmonitor ./run.sh; mkdir -p .git/hooks .mulligan; echo x >.git/hooks/pre-commit; echo x >.mulligan/tool.ts; echo {} >mulligan.json; mkdir -p sub/.git/hooks; echo x >sub/.git/config`
      assert.equal((await layer.run(script(does))).stdout, 'first\n')
      const { changes } = await layer.changes()
      const isOwn = (path: string) => changes.find((change) => change.path === path)
      for (const path of ['.git/config', '.git/hooks/pre-commit', '.mulligan/tool.ts', 'mulligan.json', 'sub/.git/config'])
        assert.equal(isOwn(path)?.protected, true, path)
      assert.deepEqual(
        [isOwn('.git/refs/heads/main')?.git ?? isOwn('.git/refs/heads/master')?.git, isOwn('.git/index')?.protected],
        [true, false],
      )
      assert.deepEqual(treeOf(workspace), before)
    },
  },
  {
    name: 'there is no network in a layer, and nothing outside of the workspace can be written',
    run: async (bench) => {
      const server = createServer((_, response) => response.end('host')).listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      const data = bench.workspace({ 'old.txt': 'x' }, 'data')
      const sandbox = await bench.open(bench.workspace(FILES), { network: 'bridge', mounts: [{ path: data, mode: 'read-write' }] })
      const reach = `exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port} && echo REACHED; echo y >${data}/new && echo WROTE; true`
      try {
        assert.equal((await sandbox.run(script(reach))).stdout, 'REACHED\nWROTE\n', 'control')
        assert.equal((await (await sandbox.openLayer()).run(script(reach))).stdout, '')
        assert.equal((await sandbox.run({ script: reach, workspace: 'read-only' })).stdout, '')
      } finally {
        server.close()
        server.closeAllConnections()
      }
    },
  },
  {
    name: 'a layer that waits outlives its sandbox; one that does not is removed with it',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      const sandbox = await bench.open(workspace)
      const [waits, goes] = [await sandbox.openLayer({ session: 's', ignored: BUILD }), await sandbox.openLayer()]
      await waits.run(script('echo kept >a.txt; mkdir dist; rm -r src'))
      await goes.run(script('echo x >a.txt'))
      const { hash } = await waits.wait('npm test')
      await sandbox.close()
      const mine = async () => (await listLayers({ stateFolder: bench.stateFolder })).waiting.filter((one) => one.workspace === workspace)
      const [found, ...others] = await mine()
      assert.deepEqual([found?.id, found?.hash, found?.note, found?.session, others], [waits.id, hash, 'npm test', 's', []])
      assert.equal(existsSync(join(bench.stateFolder, goes.id)), false)
      const set = await found?.changes()
      assert.deepEqual([set?.hash, set?.ignored], [hash, ['dist']])
      const file = await found?.open('a.txt')
      assert.equal(String(await file?.readFile()), 'kept\n')
      await file?.close()
      // The change set that was shown is out of date.
      writeFileSync(join(workspace, 'a.txt'), 'changed by the person')
      assert.notEqual((await found?.changes())?.hash, hash)
      await found?.discard()
      assert.deepEqual(await mine(), [])
    },
  },
  {
    name: "a command can't forge the marks of an overlay, and marks in the workspace are not its deletions",
    run: async (bench) => {
      const workspace = bench.workspace({ ...FILES, 'src/empty.txt': '' })
      const sandbox = await bench.open(workspace)
      const forge = script(
        `cd src; mknod dev c 0 0; mkfifo q; perl -e '${SETXATTR}' . opaque y . opaque x .. opaque x empty.txt whiteout y deep redirect /a deep/c.txt metacopy ''; true`,
      )
      const inside = await sandbox.openLayer()
      const { stdout } = await inside.run(forge)
      assert.match(stdout, /^(set|refused)/, 'perl is needed for this check')
      // In a layer, attributes are stored under other names or refused, and devices are refused.
      assert.deepEqual(told(await inside.changes()), ['added src/q'])
      await inside.discard()

      assert.match((await sandbox.run(forge)).stdout, /^set/, 'control: it can in the workspace itself')
      assert.ok(lstatSync(join(workspace, 'src/dev')).isCharacterDevice())
      const layer = await sandbox.openLayer()
      await ended(layer.run(script('ls -la src; echo x >src/new; echo x >new; rm src/b.txt')))
      const { changes } = await layer.changes()
      assert.deepEqual(
        changes.filter(({ kind }) => kind === 'deleted').map(({ path }) => path),
        ['src/b.txt'],
      )
      await layer.discard()
    },
  },
  {
    name: 'a run on the workspace read-only, where there is no layer',
    run: async (bench) => {
      const workspace = bench.workspace({ ...FILES, '.env': 'KEY' })
      const sandbox = await bench.open(workspace)
      const before = treeOf(workspace)
      const does = 'cat a.txt .env; echo x >a.txt; rm -r src; mkdir new; echo t >/tmp/t; cat /tmp/t'
      const { stdout } = await ended(sandbox.run({ script: does, workspace: 'read-only', masks: ['.env'] }))
      assert.equal(stdout, 'one\nt\n')
      assert.deepEqual(treeOf(workspace), before)
      assert.match((await ended(sandbox.run(script(does)))).stdout, /KEY/)
      assert.notDeepEqual(treeOf(workspace), before, 'control')
    },
  },
  {
    name: 'read-only, no program of the machine is reached by a socket or a pipe in the workspace',
    run: async (bench) => {
      const workspace = bench.workspace({ ...FILES, 'src/x': '' })
      const sandbox = await bench.open(workspace)
      const server = createServer((_, response) => response.end('REACHED\n'))
      const [socket, pipe] = [join(workspace, 'src/server.sock'), join(workspace, 'pipe')]
      await new Promise<void>((resolve) => server.listen(socket, resolve))
      execFileSync('mkfifo', [pipe])
      for (const path of [socket, pipe]) chmodSync(path, 0o777)
      const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
      const get = "require('http').get({ socketPath: 'src/server.sock' }, (r) => r.pipe(process.stdout)).on('error', () => {})"
      const reach = `echo WROTE >pipe; node -e "${get}"`
      const received = (): number => {
        try {
          return readSync(end, Buffer.alloc(20))
        } catch {
          return 0
        }
      }
      try {
        const { stdout } = await ended(sandbox.run({ script: reach, workspace: 'read-only' }))
        assert.deepEqual([stdout, received()], ['', 0])
        assert.deepEqual([(await sandbox.run(script(reach))).stdout, received()], ['REACHED\n', 6], 'control')
      } finally {
        server.close()
        server.closeAllConnections()
        closeSync(end)
      }
    },
  },
  {
    name: 'read-only, a socket that came later is not reached either',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      const sandbox = await bench.open(workspace)
      await sandbox.run({ script: ':', workspace: 'read-only' })
      const server = createServer((_, response) => response.end('REACHED\n'))
      const socket = join(workspace, 'server.sock')
      await new Promise<void>((resolve) => server.listen(socket, resolve))
      chmodSync(socket, 0o777)
      const reach = `node -e "require('http').get({ socketPath: 'server.sock' }, (r) => r.pipe(process.stdout)).on('error', () => {})"`
      try {
        assert.equal((await ended(sandbox.run({ script: reach, workspace: 'read-only' }))).stdout, '')
        assert.equal((await sandbox.run(script(reach))).stdout, 'REACHED\n', 'control')
      } finally {
        server.close()
        server.closeAllConnections()
      }
    },
  },
  ...(['moved away', 'removed, so that the new one may have its number'] as const).map(
    (how): LayerCheck => ({
      name: `a workspace that was replaced between two commands is seen as it is now, and not written: ${how}`,
      run: async (bench) => {
        const workspace = bench.workspace({ 'a.txt': 'old' })
        const sandbox = await bench.open(workspace)
        const first = await sandbox.openLayer()
        await first.run(script('true'))
        await first.discard()
        // The next layer is mounted once the kernel has created its folder.
        const isMounted = (name: string) => ['unused', 'work/work'].every((path) => existsSync(join(bench.stateFolder, name, path)))
        while (!readdirSync(bench.stateFolder).some(isMounted)) await sleep(10)
        if (how === 'moved away') renameSync(workspace, `${workspace}-old`)
        else rmSync(workspace, { recursive: true })
        renameSync(bench.workspace({ 'a.txt': 'new' }), workspace)
        const layer = await sandbox.openLayer()
        assert.equal((await layer.run(script('cat a.txt; echo x >a.txt'))).stdout, 'new')
        assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'new')
        assert.deepEqual(told(await layer.changes()), ['modified a.txt'])
      },
    }),
  ),
  {
    name: 'caches of toolchains are warm, and what is written to them goes with the sandbox',
    run: async (bench) => {
      // Other users have no access to root's home.
      if (process.getuid?.() === 0 && !bench.isRoots) return
      const home = bench.workspace(
        { '.cache/go-build/old': 'warm', '.cargo/registry/old': 'warm', '.cargo/credentials.toml': 'secret' },
        'home',
      )
      const open = (files: Readonly<Record<string, string>>) =>
        bench.open(bench.workspace(files), { hostEnv: { PATH: process.env['PATH'], HOME: home } })
      const before = treeOf(home)
      const read = 'cd; cat .cache/go-build/old .cargo/registry/old'
      const write = 'for f in .cache/go-build .cargo/registry; do echo new >$f/new; echo changed >$f/old; done; ls .cargo'
      const sandbox = await open({ 'go.mod': '', 'sub/Cargo.toml': '' })
      const run = async (text: string) => {
        const layer = await sandbox.openLayer()
        const { stdout } = await ended(layer.run(script(text)))
        assert.deepEqual(told(await layer.changes()), [])
        await layer.discard()
        return stdout
      }
      assert.equal(await run(read), 'warmwarm')
      assert.equal(await run(`cd; ${write}`), 'registry\n')
      assert.equal(await run(`${read} .cache/go-build/new`), 'changed\nchanged\nnew\n')
      assert.deepEqual(treeOf(home), before)
      await ended(sandbox.run(script('rm -rf ~/.cache; ln -s /tmp ~/.cache/go-build; echo mine >~/.cache/go-build/old || true')))
      assert.equal(await run(read), 'changed\nchanged\n')
      assert.deepEqual(treeOf(home), before)
      await sandbox.close()
      const other = await (await open({ 'go.mod': '', 'Cargo.toml': '' })).openLayer()
      assert.equal((await other.run(script(read))).stdout, 'warmwarm')
      const without = await (await open({ 'package.json': '' })).openLayer()
      assert.equal((await ended(without.run(script('ls ~/.cache')))).stdout, '', 'control')
    },
  },
  {
    name: 'sessions at the same time do not see each other',
    run: async (bench) => {
      const workspace = bench.workspace(FILES)
      const sandboxes = [await bench.open(workspace), await bench.open(workspace)]
      const outputs = await Promise.all(
        ['x', 'y', 'z'].map(async (word, at) => {
          const layer = await (sandboxes[at % 2] as (typeof sandboxes)[0]).openLayer({ session: word })
          await layer.run(script(`echo ${word} >a.txt; echo ${word} >${word}`))
          const { stdout } = await layer.run(script('cat a.txt; ls -d ? || true'))
          return [stdout, told(await layer.changes())]
        }),
      )
      assert.deepEqual(
        outputs,
        ['x', 'y', 'z'].map((word) => [`${word}\n${word}\n`, ['modified a.txt', `added ${word}`]]),
      )
    },
  },
  {
    name: 'any path will do, and any name in it',
    run: async (bench) => {
      const odd = 'a:b,c=d\\e "f"\n$(g) ü;h'
      const workspace = bench.workspace(FILES, odd)
      const sandbox = await bench.open(workspace, { stateFolder: join(bench.base, `state ${odd}`) })
      const names = ['new\nline', '..dots', '-n', ' blank ', 'ünï', '\\', '$(x)', "'", '.wh.a.txt', '\u200b']
      const layer = await sandbox.openLayer({ masks: ['a.txt'] })
      for (const name of names)
        await layer.run({ argv: ['/bin/sh', '-c', 'cat a.txt; echo x >"./$1"; mkdir -p src/deep; echo y >"src/deep/$1"', 'sh', name] })
      const expected = names.flatMap((name) => [`added ${name}`, `added src/deep/${name}`])
      assert.deepEqual([...told(await layer.changes())].sort(), expected.sort())
      await layer.run(script(`printf x >"$(printf 'bad\\377')"; printf y >"$(printf 'src/bad\\376')"`))
      const bad = (await layer.changes()).changes.filter(({ unsupported }) => unsupported !== undefined)
      assert.equal(bad.length, 2)
    },
  },
  {
    name: 'paths deeper than a path can be told are not kept, and nothing breaks',
    run: async (bench) => {
      const sandbox = await bench.open(bench.workspace(FILES))
      const layer = await sandbox.openLayer()
      await layer.run(script('n=$(printf "%0200d" 1); for i in $(seq 30); do mkdir $n && cd $n; done; echo x >x'))
      const { changes } = await layer.changes()
      assert.equal(changes.filter(({ unsupported }) => unsupported !== undefined).length, 1)
      await layer.discard()
      assert.equal(existsSync(join(bench.stateFolder, layer.id)), false)
    },
  },
  {
    name: "bits that lend the owner's rights are told, and are not part of the mode",
    run: async (bench) => {
      const sandbox = await bench.open(bench.workspace({ ...FILES }))
      const layer = await sandbox.openLayer()
      const { exitCode } = await ended(layer.run(script('chmod g+s run.sh')))
      const { changes } = await layer.changes()
      if (bench.isRoots) assert.deepEqual([exitCode, changes], [1, []])
      else
        assert.deepEqual(
          changes.map(({ path, kind, after }) => [path, kind, after?.type === 'file' && [after.mode, after.setuid]]),
          [['run.sh', 'mode', [0o644, true]]],
        )
    },
  },
  {
    name: 'why a folder could not be renamed is said',
    run: async (bench) => {
      const sandbox = await bench.open(bench.workspace(FILES))
      const layer = await sandbox.openLayer()
      const rename = await ended(layer.run({ argv: ['node', '-e', "require('fs').renameSync('src', 'other')"] }))
      assert.match(layerHint(rename) ?? '', /userxattr/)
      await layer.run(script('mkdir made; mv made other; mv other/../src src2'))
      assert.deepEqual(
        told(await layer.changes()).filter((one) => one.startsWith('added')),
        ['added other', 'added src2', 'added src2/b.txt', 'added src2/deep', 'added src2/deep/c.txt'],
      )
    },
  },
]
