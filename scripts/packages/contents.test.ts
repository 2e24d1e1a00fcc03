import { expect, it } from 'vitest'
import { wrongContents, wrongVersions } from './contents.ts'
import type { Manifest } from './pack.ts'

const manifest: Manifest = { name: '@mulligan/x', version: '1.0.0', dependencies: { zod: '^4.0.0' }, optionalDependencies: { late: '1' } }
const GOOD: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'README.md': '# x',
  LICENSE: 'the license',
  'dist/index.js': `import { z } from 'zod'\nimport fs from 'node:fs'\nexport const late = () => import('late/part')\n * import { y } from 'example'\n`,
  'dist/index.d.ts': `export * from './a.ts'\n`,
}
const expected = { license: 'the license', root: '/home/somebody/mulligan', hasSource: (path: string) => path === 'src/index.ts' }
const wrong = (files: Readonly<Record<string, string>>) => wrongContents({ manifest, files: new Map(Object.entries(files)) }, expected)

it('a package as it should be passes', () => {
  expect(wrong(GOOD)).toEqual([])
})

it.each([
  [{ 'README.md': undefined }, 'README.md is missing'],
  [{ LICENSE: 'another' }, 'LICENSE is not the one'],
  [{ 'dist/a.test.js': '' }, 'dist/a.test.js does not belong'],
  [{ 'dist/fixtures/a.js': '' }, 'dist/fixtures/a.js does not belong'],
  [{ 'dist/.tsbuildinfo': '' }, 'dist/.tsbuildinfo does not belong'],
  [{ 'src/index.ts': '' }, 'src/index.ts does not belong'],
  [{ 'dist/gone.js': '' }, 'dist/gone.js has no source any more'],
  [{ 'dist/index.js': `const at = '/home/somebody/mulligan/packages'` }, 'dist/index.js names a folder'],
  [{ 'dist/index.js': '//# sourceMappingURL=index.js.map\n' }, 'dist/index.js has a source map'],
  [{ 'dist/index.js': `import { x } from '@other/package/part'` }, 'dist/index.js imports @other/package, which'],
  [{ 'dist/index.d.ts': `export const a: import('hidden').A` }, 'dist/index.d.ts imports hidden, which'],
])('%j is found', (change, says) => {
  const files = Object.fromEntries(
    Object.entries({ ...GOOD, ...change }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  expect(wrong(files)).toEqual([expect.stringContaining(says)])
})

it('packages ask for each other in their own version', () => {
  const other = { name: '@mulligan/y', version: '1.0.0', dependencies: { '@mulligan/x': '1.0.0' } }
  expect(wrongVersions([manifest, other])).toEqual([])
  expect(wrongVersions([{ ...manifest, version: '1.0.1' }, other])).toEqual(['@mulligan/y asks for @mulligan/x 1.0.0, which is 1.0.1'])
})
