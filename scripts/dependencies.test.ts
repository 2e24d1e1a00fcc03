import { expect, it } from 'vitest'
import { wrongArrows, wrongInBrowser } from './dependencies.ts'

const check = (file: string, text: string) => wrongArrows([file], () => text)

it.each([
  ['packages/core/src/a.ts', `import { x } from '@mulligan/agent'`],
  ['packages/core/src/a.ts', `import fs from 'node:fs'`],
  ['packages/core/src/a.ts', `const x = await import('ai')`],
  ['packages/tools/src/a.ts', `export * from '@mulligan/testing'`],
  ['packages/tools/src/a.ts', `import { x } from '@mulligan/core/src/guard.ts'`],
  ['packages/agent/src/a.ts', `import { x } from '../../core/src/index.ts'`],
  ['packages/agent/src/a.ts', `import { x } from 'mulligan'`],
  ['packages/host/src/a.ts', `import { x } from 'mulligan'`],
  ['packages/tools/src/a.ts', `import { x } from '@mulligan/host'`],
  ['packages/host/src/a.ts', `import { x } from '@mulligan/eval'`],
  ['packages/eval/src/a.ts', `import { x } from 'mulligan'`],
  ['packages/cli/src/a.ts', `import { x } from '@mulligan/host/config'`],
  ['packages/cli/src/a.test.ts', `import { x } from '../../host/src/a.ts'`],
])('%s with %s is refused', (file, text) => {
  expect(check(file, text)).toHaveLength(1)
})

it('arrows that point down pass, and so does the repository', () => {
  expect(check('packages/agent/src/a/b.ts', `import { x } from '@mulligan/core'\nimport { y } from '../c.ts'`)).toEqual([])
  expect(check('packages/agent/src/a.test.ts', `import { x } from '@mulligan/testing'`)).toEqual([])
  for (const one of ['eval', 'cli']) expect(check(`packages/${one}/src/a.ts`, `import { x } from '@mulligan/host/parts'`)).toEqual([])
  expect(check('packages/cli/src/a.test.ts', `import { x } from '../../host/src/a.fixture.ts'`)).toEqual([])
  expect(wrongArrows()).toEqual([])
})

it.each([
  ['apps/web/src/a.tsx', `import { x } from '@mulligan/agent'`],
  ['apps/web/src/a.ts', `import fs from 'node:fs'`],
  ['apps/web/src/a.ts', `import { x } from '@mulligan/core/executor'`],
  ['packages/server/src/client/a.ts', `import { CONTRACT } from '../contract.ts'`],
])('%s with %s would not run in a browser', (file, text) => {
  expect(wrongInBrowser([file], () => text)).toHaveLength(1)
})

it('types, and what is made for browsers, pass there, and so does the repository', () => {
  const passes = (file: string, text: string) => expect(wrongInBrowser([file], () => text)).toEqual([])
  passes('apps/web/src/a.ts', `import type { AgentEvent } from '@mulligan/agent'\nimport { render } from '@mulligan/core'`)
  passes('packages/server/src/client/a.ts', `import type { Contract } from '../contract.ts'\nimport { x } from './sse.ts'`)
  expect(wrongInBrowser()).toEqual([])
})
