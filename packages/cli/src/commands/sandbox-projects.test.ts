/** Checks that the tests of real projects pass in the sandbox with default settings: it blocks access without breaking what they need. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { sandboxThere } from '../../../host/src/tools/sandbox.fixture.ts'
import { place } from '../../test/cli.fixture.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const IN = ['sandbox', 'run'] as const

const C = {
  'package.json': '{ "scripts": { "test": "make test" } }\n',
  Makefile: 'test: sum_test\n\t./sum_test\n\nsum_test: sum.c sum_test.c\n\t$(CC) -Wall -O1 -o $@ $^\n',
  'sum.c': 'int sum(int a, int b) { return a + b; }\n',
  'sum_test.c':
    '#include <stdio.h>\nint sum(int, int);\nint main(void) { if (sum(2, 2) != 4) return 1; puts("4, as it should be"); return 0; }\n',
}
const PYTHON = {
  'package.json': '{ "scripts": { "test": "python3 -m unittest -v" } }\n',
  'test_sum.py': `import json, socket, sqlite3, subprocess, tempfile, threading, unittest

class Sum(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(sum([2, 2]), 4)

    def test_what_projects_use(self):
        with tempfile.TemporaryDirectory() as folder:
            base = sqlite3.connect(folder + '/a.db')
            base.execute('create table a (b)')
        self.assertEqual(json.loads(subprocess.check_output(['sh', '-c', 'echo [1]'])), [1])
        server = socket.create_server(('127.0.0.1', 0))
        thread = threading.Thread(target=lambda: server.accept()[0].sendall(b'hello'))
        thread.start()
        self.assertEqual(socket.create_connection(server.getsockname()).recv(5), b'hello')
        thread.join()
`,
}
const NODE = {
  'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  'home.test.js': `import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { test } from 'node:test'
test('runs on the node of the home folder', () => assert.equal(process.execPath, homedir() + '/.nvm/versions/node/v24.0.0/bin/node'))
const read = (path) => { try { return readFileSync(homedir() + '/' + path, 'utf8') } catch { return '' } }
test('and sees nothing else of it', () => assert.deepEqual(['.npmrc', '.ssh/id_ed25519', '.nvm/.netrc'].filter((one) => read(one) !== ''), []))
`,
}

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0

describe.skipIf(!(await sandboxThere()))('npm test passes in the sandbox', () => {
  it('of a part of this repository', async () => {
    using here = place()
    const { code, stdout } = await here.run([
      ...IN,
      '--cwd',
      ROOT,
      '--',
      'npm',
      'exec',
      '--',
      'vitest',
      'run',
      'packages/repair/src/name.test.ts',
    ])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/Test Files +1 passed/)])
  })

  it.skipIf(!has('cc') || !has('make'))('of a project in C', async () => {
    using here = place(C)
    const { code, stdout } = await here.run([...IN, '--', 'npm', 'test'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('4, as it should be')])
  })

  it.skipIf(!has('python3'))('of a project in Python', async () => {
    using here = place(PYTHON)
    const { code, stderr } = await here.run([...IN, '--', 'npm', 'test'])
    expect([code, stderr]).toEqual([0, expect.stringMatching(/Ran 2 tests[\s\S]*OK/)])
  })

  it('of a project whose Node is under the home folder, and the credentials beside it stay out', async () => {
    using here = place(NODE)
    const home = dirname(here.dir)
    const bin = installNode(join(home, '.nvm/versions/node/v24.0.0'))
    for (const secret of ['.npmrc', '.ssh/id_ed25519', '.nvm/.netrc']) {
      mkdirSync(dirname(join(home, secret)), { recursive: true })
      writeFileSync(join(home, secret), 'secret')
    }
    const env = { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` }
    const { code, stdout } = await here.run([...IN, '--', 'npm', 'test'], { env })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/pass 2\b/)])
    // Control: outside of the sandbox, the second test sees the credentials.
    const outside = await here.run([...IN, '--backend', 'none', '--', 'npm', 'test'], { env })
    expect([outside.code, outside.stdout]).toEqual([1, expect.stringMatching(/pass 1\b[\s\S]*fail 1\b/)])
  })
})

/** Installs Node the way nvm does. @returns the folder of its programs */
function installNode(prefix: string): string {
  const bin = join(prefix, 'bin')
  mkdirSync(bin, { recursive: true })
  try {
    linkSync(process.execPath, join(bin, 'node'))
  } catch {
    copyFileSync(process.execPath, join(bin, 'node'))
  }
  cpSync(npmFolder(), join(prefix, 'lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'))
  return bin
}

function npmFolder(): string {
  const found = (process.env['PATH'] ?? '').split(delimiter).find((folder) => existsSync(join(folder, 'npm')))
  if (found === undefined) throw new Error('there is no npm on the PATH')
  return dirname(dirname(realpathSync(join(found, 'npm'))))
}
