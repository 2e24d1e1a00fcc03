/** Checks that changes to ignored files are brought to the workspace correctly. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LayerOptions, Sandbox } from '../index.ts'
import { ended, type LayerBench, type LayerCheck, treeOf } from './bench.fixture.ts'
import { openFolder } from './read.ts'

const IGNORED = (paths: readonly { readonly path: string }[]) =>
  paths.map(({ path }) => path).filter((path) => /(^|\/)(dist|node_modules|\.mulligan|cache|[^/]*\.log)$/.test(path))

async function ranIn(sandbox: Sandbox, text: string, options: LayerOptions = {}): Promise<string> {
  const layer = await sandbox.openLayer({ ignored: IGNORED, ...options })
  const { stdout } = await ended(layer.run({ script: text }))
  assert.deepEqual((await layer.changes()).changes, [], text)
  await layer.keepIgnored()
  await layer.discard()
  return stdout
}

const FILES = {
  'src/a': 'a',
  'src/x.log': 'log',
  'dist/old.js': 'old',
  'dist/sub/deep.js': 'deep',
  'node_modules/p/i.js': 'p',
  'node_modules/q/i.js': 'q',
  'cache/': '',
}

async function begun(bench: LayerBench, text: string, files: Readonly<Record<string, string>> = FILES, options: LayerOptions = {}) {
  const workspace = bench.workspace(files)
  const sandbox = await bench.open(workspace)
  const before = treeOf(workspace)
  await ranIn(sandbox, text, options)
  assert.deepEqual(treeOf(workspace), before)
  return { workspace, sandbox, before, kept: await sandbox.privateLayer(options) }
}

/** What a command does to ignored files, and the paths listed for it. */
const KINDS: readonly (readonly [string, readonly string[]])[] = [
  ['true', []],
  ['echo new >dist/new.js; echo x >src/y.log', ['dist/new.js', 'src/y.log']],
  ['echo changed >dist/old.js; rm node_modules/p/i.js', ['dist/old.js', 'node_modules/p/i.js']],
  ['rm -r dist; mkdir dist; echo z >dist/z', ['dist/old.js', 'dist/sub', 'dist/z']],
  ['rm -r node_modules/q; mkdir -p node_modules/q/r; echo y >node_modules/q/r/y', ['node_modules/q/i.js', 'node_modules/q/r']],
  ['rm -r dist; echo file >dist', ['dist']],
  ['rm src/x.log; mkdir src/x.log; echo in >src/x.log/in', ['src/x.log']],
  ['rm -r dist; ln -s node_modules dist', ['dist']],
  ['rm dist/old.js; ln -s /etc/hostname dist/old.js; chmod 755 node_modules/p/i.js', ['dist/old.js', 'node_modules/p/i.js']],
  ['cat dist/old.js >t; cat t >dist/old.js; rm t; touch dist/sub/deep.js', []],
  ['mkdir -p cache/a/b; echo 1 >cache/a/b/c; chmod 750 cache/a/b; rm -r dist/sub', ['cache/a', 'dist/sub']],
  ['for i in 1 2 3 4 5 6 7 8 9; do echo $i >dist/$i.js; done', ['dist']],
]

export const PRIVATE_CHECKS: readonly LayerCheck[] = [
  {
    name: 'ignored files are brought to the workspace as the commands left them',
    run: async (bench) => {
      for (const [text, named] of KINDS) {
        const { workspace, sandbox, kept } = await begun(bench, text)
        assert.deepEqual((await kept.changed()).toSorted(), named, text)
        const list = 'find dist node_modules src cache -printf "%p %y %l %m\\n" | sort; cat dist/*.js src/*.log 2>/dev/null'
        const seen = await ranIn(sandbox, list)
        const { left } = await kept.keep()
        assert.deepEqual([left, await kept.changed()], [[], []], text)
        const plain = await ended(sandbox.run({ script: list }))
        assert.equal(plain.stdout, seen, text)
        // A later command starts from the workspace and can continue.
        assert.equal(await ranIn(sandbox, list), seen, text)
        await ranIn(sandbox, 'echo again >>src/again.log')
        assert.deepEqual(await kept.changed(), ['src/again.log'])
        assert.equal(existsSync(join(workspace, 'src/again.log')), false)
      }
    },
  },
  {
    name: 'what the workspace has changed since stays, and is named',
    run: async (bench) => {
      const text =
        'echo theirs >dist/old.js; rm node_modules/p/i.js; rm -r dist/sub; mkdir dist/sub; echo n >dist/new.js; echo m >dist/mine.js'
      const { workspace, kept } = await begun(bench, text)
      for (const path of ['dist/old.js', 'node_modules/p/i.js', 'dist/sub/deep.js', 'dist/mine.js'])
        writeFileSync(join(workspace, path), 'mine')
      const { kept: done, left } = await kept.keep()
      assert.deepEqual(
        [done, left.map(({ path }) => path).toSorted()],
        [['dist/new.js'], ['dist/mine.js', 'dist/old.js', 'dist/sub/deep.js', 'node_modules/p/i.js']],
      )
      for (const path of ['dist/old.js', 'node_modules/p/i.js', 'dist/sub/deep.js', 'dist/mine.js'])
        assert.equal(readFileSync(join(workspace, path), 'utf8'), 'mine')
      assert.deepEqual(await kept.changed(), [])
    },
  },
  {
    name: 'what runs by itself, secrets, pipes and set-user-id bits never come along',
    run: async (bench) => {
      const text = `mkdir -p dist/lib/.git/hooks dist/ok .mulligan/tools; echo evil >dist/lib/.git/hooks/pre-commit; echo x >dist/lib/a
        echo x >.mulligan/tools/evil.mjs; mkfifo dist/pipe; cp /bin/true dist/ok/suid; chmod 6755 dist/ok/suid; echo stolen >dist/token; echo evil >dist/dep/.git/HEAD`
      const { workspace, kept } = await begun(bench, text, { ...FILES, 'dist/dep/.git/HEAD': 'mine' }, { masks: ['dist/token'] })
      assert.deepEqual((await kept.changed()).toSorted(), ['dist/lib', 'dist/ok'])
      const { left } = await kept.keep()
      assert.deepEqual(left.map(({ path }) => path).toSorted(), [
        '.mulligan',
        'dist/dep/.git/HEAD',
        'dist/lib/.git',
        'dist/pipe',
        'dist/token',
      ])
      assert.equal(statSync(join(workspace, 'dist/ok/suid')).mode & 0o7777, 0o755)
      assert.equal(readFileSync(join(workspace, 'dist/lib/a'), 'utf8'), 'x\n')
      assert.equal(readFileSync(join(workspace, 'dist/dep/.git/HEAD'), 'utf8'), 'mine')
      for (const path of ['.mulligan', 'dist/lib/.git', 'dist/pipe', 'dist/token']) assert.equal(existsSync(join(workspace, path)), false)
    },
  },
  {
    name: 'no link leads out of the workspace',
    run: async (bench) => {
      const { workspace, kept } = await begun(bench, 'echo new >dist/new.js; echo x >dist/sub/x.js')
      const outside = join(bench.base, 'outside')
      mkdirSync(outside)
      writeFileSync(join(outside, 'old.js'), 'outside')
      renameSync(join(workspace, 'dist'), join(workspace, 'was'))
      symlinkSync(outside, join(workspace, 'dist'))
      await kept.keep()
      // A link created during the keep leads nowhere either.
      assert.throws(() => openFolder(workspace, ['dist']))
      assert.deepEqual(treeOf(outside), { 'old.js': treeOf(outside)['old.js'] })
      rmSync(outside, { recursive: true })
    },
  },
]
