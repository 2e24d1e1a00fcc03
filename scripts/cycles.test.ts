import { expect, it } from 'vitest'
import { cycles } from './cycles.ts'

const check = (files: Readonly<Record<string, string>>) => cycles(Object.keys(files), (file) => files[file] ?? '')

it.each<[string, Readonly<Record<string, string>>]>([
  ['two folders', { 'packages/x/src/a/one.ts': `import { b } from '../b/two.ts'`, 'packages/x/src/b/two.ts': `import '../a/one.ts'` }],
  ['two files', { 'packages/x/src/one.ts': `import { b } from './two.ts'`, 'packages/x/src/two.ts': `import type { A } from './one.ts'` }],
  [
    'types',
    { 'packages/x/src/a/one.ts': `import type { B } from '../b/two.ts'`, 'packages/x/src/b/two.ts': `export * from '../a/one.ts'` },
  ],
  [
    'a file beside them, and a lazy import',
    { 'packages/x/src/a/one.ts': `import { b } from '../b.ts'`, 'packages/x/src/b.ts': `const a = await import('./a/one.ts')` },
  ],
  [
    'three folders',
    {
      'packages/x/src/a/one.ts': `import { b } from '../b/two.ts'`,
      'packages/x/src/b/two.ts': `import { c } from '../c/three.ts'`,
      'packages/x/src/c/three.ts': `import { a } from '../a/deep/one.ts'`,
      'packages/x/src/a/deep/one.ts': '',
    },
  ],
])('a cycle is found: %s', (_, files) => expect(check(files)).toEqual([expect.stringContaining('import each other in a cycle')]))

it('imports in one direction pass, tests may import in both, and the repository has no cycle', () => {
  expect(
    check({
      'packages/x/src/a/one.ts': `import { b } from '../b/two.ts'`,
      'packages/x/src/b/two.ts': `import { c } from './deep/three.ts'`,
      'packages/x/src/b/two.test.ts': `import { a } from '../a/one.ts'`,
    }),
  ).toEqual([])
  expect(cycles()).toEqual([])
})
