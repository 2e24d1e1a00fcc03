import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fixture } from '../workspace.fixture.ts'
import { nearestPaths } from './nearest.ts'
import { dirName } from './paths.ts'

/** A realistic workspace: many files with the same name, tests next to sources, and a build folder. */
const PATHS = [
  '.env',
  '.env.example',
  '.github/workflows/ci.yml',
  'Dockerfile',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'tsconfig.json',
  'vite.config.ts',
  'docs/README.md',
  'docs/getting-started.md',
  'docs/api/authentication.md',
  'docs/images/logo.png',
  'dist/index.js',
  'dist/main.js',
  'lib/legacy/parser.js',
  'packages/auth/package.json',
  'packages/auth/src/index.ts',
  'packages/auth/src/token-store.ts',
  'packages/auth/test/token-store.test.ts',
  'packages/core/package.json',
  'packages/core/src/index.ts',
  'packages/core/src/executor/run.ts',
  'packages/core/src/executor/retry.ts',
  'packages/web/package.json',
  'packages/web/src/index.tsx',
  'scripts/release.mjs',
  'scripts/build.sh',
  'src/index.ts',
  'src/main.ts',
  'src/config.yaml',
  'src/components/Button.tsx',
  'src/components/Button.test.tsx',
  'src/components/ButtonGroup.tsx',
  'src/components/UserProfile.tsx',
  'src/components/forms/LoginForm.tsx',
  'src/hooks/useUser.ts',
  'src/models/user.py',
  'src/models/user_account.py',
  'src/services/user-service.ts',
  'src/services/mail/send.ts',
  'src/services/sms/send.ts',
  'src/util/date.ts',
  'src/util/string-helpers.ts',
  'src/util/index.ts',
  'test/main.test.ts',
  'test/fixtures/users.json',
  'test/util/date.test.ts',
  'notes/Café menu.md',
]

describe('what was meant', () => {
  test.each<[slip: string, wanted: string, meant: string]>([
    ['transposed letters', 'src/mian.ts', 'src/main.ts'],
    ['a letter left out', 'src/compnents/Button.tsx', 'src/components/Button.tsx'],
    ['a letter too many', 'src/util/datee.ts', 'src/util/date.ts'],
    ['a wrong letter', 'src/util/dats.ts', 'src/util/date.ts'],
    ['two slips in a long name', 'src/util/strng-helprs.ts', 'src/util/string-helpers.ts'],
    ['a slip in the folder', 'scr/main.ts', 'src/main.ts'],
    ['a slip in a folder within', 'src/serivces/mail/send.ts', 'src/services/mail/send.ts'],
    ['a slip in both', 'scr/mian.ts', 'src/main.ts'],
    ['a slip tells two files apart by folder', 'src/services/sm/send.ts', 'src/services/sms/send.ts'],
    ['wrong extension', 'src/main.js', 'src/main.ts'],
    ['wrong extension, one with the right one elsewhere', 'src/index.js', 'src/index.ts'],
    ['wrong extension of a component', 'src/components/Button.jsx', 'src/components/Button.tsx'],
    ['another kind of file', 'src/config.json', 'src/config.yaml'],
    ['no extension', 'src/components/UserProfile', 'src/components/UserProfile.tsx'],
    ['an extension too many', 'Dockerfile.txt', 'Dockerfile'],
    ['yml for yaml', 'src/config.yml', 'src/config.yaml'],
    ['lower case', 'readme.md', 'README.md'],
    ['lower case in a folder', 'docs/readme.md', 'docs/README.md'],
    ['upper case', 'SRC/MAIN.TS', 'src/main.ts'],
    ['wrong case of a component', 'src/components/button.tsx', 'src/components/Button.tsx'],
    ['kebab for camel', 'src/components/user-profile.tsx', 'src/components/UserProfile.tsx'],
    ['snake for kebab', 'src/services/user_service.ts', 'src/services/user-service.ts'],
    ['camel for snake', 'src/models/userAccount.py', 'src/models/user_account.py'],
    ['camel for kebab', 'packages/auth/src/tokenStore.ts', 'packages/auth/src/token-store.ts'],
    ['kebab for camel of a hook', 'src/hooks/use-user.ts', 'src/hooks/useUser.ts'],
    ['plural folder', 'src/utils/date.ts', 'src/util/date.ts'],
    ['singular folder', 'src/component/Button.tsx', 'src/components/Button.tsx'],
    ['plural name', 'src/models/users.py', 'src/models/user.py'],
    ['singular name', 'test/fixtures/user.json', 'test/fixtures/users.json'],
    ['a folder left out', 'src/Button.tsx', 'src/components/Button.tsx'],
    ['two folders left out', 'src/send.ts', 'src/services/sms/send.ts'],
    ['a folder within left out', 'packages/auth/token-store.ts', 'packages/auth/src/token-store.ts'],
    ['only the name', 'LoginForm.tsx', 'src/components/forms/LoginForm.tsx'],
    ['a folder too many', 'src/app/main.ts', 'src/main.ts'],
    ['the wrong folder, the right name', 'src/helpers/string-helpers.ts', 'src/util/string-helpers.ts'],
    ['moved', 'src/auth/token-store.ts', 'packages/auth/src/token-store.ts'],
    ['moved to another top folder', 'src/scripts/release.mjs', 'scripts/release.mjs'],
    ['src/ left out', 'util/date.ts', 'src/util/date.ts'],
    ['src/ left out, of many with that name', 'util/index.ts', 'src/util/index.ts'],
    ['src/ left out in a package', 'packages/core/index.ts', 'packages/core/src/index.ts'],
    ['src/ too many', 'src/package.json', 'package.json'],
    ['lib for src', 'lib/main.ts', 'src/main.ts'],
    ['another package', 'packages/core/src/token-store.ts', 'packages/auth/src/token-store.ts'],
    ['an absolute path of another machine', '/home/ann/projects/app/src/main.ts', 'src/main.ts'],
    ['an absolute path of a container', '/workspace/packages/core/src/index.ts', 'packages/core/src/index.ts'],
    ['of Windows', 'C:\\Users\\ann\\app\\src\\util\\date.ts', 'src/util/date.ts'],
    ['separators of Windows', 'src\\components\\forms\\LoginForm.tsx', 'src/components/forms/LoginForm.tsx'],
    ['the folder of the project before it', 'app/docs/getting-started.md', 'docs/getting-started.md'],
    ['./ and double slashes', './/src//mian.ts', 'src/main.ts'],
    ['a test for its file', 'src/util/date.test.ts', 'test/util/date.test.ts'],
    ['a name for its longer one beside', 'packages/auth/test/token-store.ts', 'packages/auth/src/token-store.ts'],
    ['a longer name', 'src/services/user.ts', 'src/services/user-service.ts'],
    ['a dot file without its dot', 'env.example', '.env.example'],
    ['a name without its accent', 'notes/Cafe menu.md', 'notes/Café menu.md'],
    ['an accent in two parts', 'notes/Cafe\u0301 menu.md', 'notes/Café menu.md'],
    ['a space for a hyphen', 'docs/getting started.md', 'docs/getting-started.md'],
    ['underscores for spaces', 'notes/Café_menu.md', 'notes/Café menu.md'],
    ['an image of another kind', 'docs/images/logo.svg', 'docs/images/logo.png'],
    ['a shell script named for its task', 'scripts/build', 'scripts/build.sh'],
    ['workflows with a slip', '.github/workflow/ci.yaml', '.github/workflows/ci.yml'],
  ])('%s: %s', (_, wanted, meant) => expect(nearestPaths(wanted, PATHS)[0]).toBe(meant))

  test.each(['zzzzzz.qqq', 'src/nothing-like-it.go', '', '/', '...', 'a', 'xy.ts', 'x'.repeat(4000)])('%s: nothing', (wanted) => {
    expect(nearestPaths(wanted, PATHS)).toEqual([])
  })
})

describe('a hundred thousand files', () => {
  test('with names alike', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `dir${at % 100}/file-number-${at}.ts`)
    expect(nearestPaths('dir5/file-numbr-70005.ts', many)[0]).toBe('dir5/file-number-70005.ts')
    expect(nearestPaths('dir5/file-number-99999x.ts', many)[0]).toBe('dir99/file-number-99999.ts')
  })

  test('with one name', () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `packages/p${at}/src/index.ts`)
    expect(nearestPaths('packages/p70005/index.ts', many)[0]).toBe('packages/p70005/src/index.ts')
    expect(nearestPaths('p70005/src/index.ts', many)[0]).toBe('packages/p70005/src/index.ts')
  })
})

describe('any path', () => {
  const name = fc.stringMatching(/^[a-z]{3,10}$/)
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `${names.join('/')}.ts`)

  test('that exists is the nearest to itself', () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 1 }), (paths) => {
        expect(nearestPaths(paths[0] as string, paths)[0]).toBe(paths[0])
      }),
    )
  })

  test('with two letters swapped is near, and only what exists is named', () => {
    fc.assert(
      fc.property(fc.uniqueArray(path, { minLength: 1 }), fc.string(), (paths, other) => {
        const [first] = paths as [string]
        const at = dirName(first).length + (first.includes('/') ? 1 : 0)
        const swapped = first.slice(0, at) + first[at + 1] + first[at] + first.slice(at + 2)
        expect(nearestPaths(swapped, paths, paths.length)).toContain(first)
        for (const found of nearestPaths(other, paths)) expect(paths).toContain(found)
      }),
    )
  })
})

describe('in a workspace', () => {
  test('a file that was made just now is named', async () => {
    const { root, workspace } = fixture({ 'src/a.ts': '' })
    expect(await workspace.nearest('src/fresh.ts', 'file')).toEqual([])
    const { writeFileSync } = await import('node:fs')
    writeFileSync(`${root}/src/fresch.ts`, '')
    expect(await workspace.nearest('src/fresh.ts', 'file')).toEqual(['src/fresch.ts'])
  })

  test('what git ignores is named where its folder was asked for', async () => {
    const { workspace } = fixture({ '.gitignore': 'dist\n', 'dist/deep/bundle.js': '', 'dist/bundle.css': '' })
    expect((await workspace.nearest('dist/bundel.css', 'file'))[0]).toBe('dist/bundle.css')
    expect((await workspace.nearest('dist/deep/bundel.js', 'file'))[0]).toBe('dist/deep/bundle.js')
  })
})
