/**
 * Commands on layers: when kept, they have the same effect as on a plain copy; when discarded, none; after undo, everything is as before.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createExecutor, modePolicy } from '@mulligan/core/executor'
import { createSandbox } from '@mulligan/sandbox'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { isAll, samples } from '../../../../../scripts/test-scope.fixture.ts'
import { createChangeLog } from '../../changes/change-log.ts'
import { createWorkspace } from '../../create-workspace.ts'
import { put, temporary } from '../../workspace.fixture.ts'
import { type ShellTools, shellTools } from '../index.ts'
import { BACKEND } from '../shell.fixture.ts'
import { repositoryOf, START, scriptOf, step, treeOf } from './sequences.fixture.ts'

const SEQUENCES = samples(8, 60)
const COPY = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const

const opened: ShellTools[] = []
afterAll(async () => {
  await Promise.all(opened.map((shell) => shell.dispose()))
})

interface TestFolders {
  readonly root: string
  readonly log: ReturnType<typeof createChangeLog>
  /** Runs a command as a separate turn in the mode `ask`. */
  readonly call: (turn: string, command: string) => Promise<{ readonly answer: (answer: 'once' | 'no') => Promise<string> }>
}

function place(root = join(temporary(), 'work'), data = temporary()): TestFolders {
  mkdirSync(root, { recursive: true })
  const dir = join(data, 'changes')
  const shell = shellTools({
    workspace: createWorkspace(root, { changes: { dir } }),
    layers: true,
    sandbox: () => createSandbox({ workspace: root, backend: 'bubblewrap', stateFolder: join(data, 'layers') }),
  })
  opened.push(shell)
  return {
    root,
    log: createChangeLog({ dir, root }),
    call: async (turn, command) => {
      const executor = createExecutor({ tools: shell.tools, policy: modePolicy('ask') })
      const prepared = await executor.prepare({ id: `${turn}/1/0`, step: 1, ordinal: 0, name: 'bash', input: { command } })
      if (prepared.kind !== 'ready') throw new Error(`${command}: ${prepared.kind}`)
      const performed = await executor.perform(prepared.call)
      return {
        answer: async (answer) => {
          if (performed.kind === 'result') return performed.record.result.ok ? 'unchanged' : performed.record.result.error
          const { result } = await executor.apply(performed, { answer })
          return result.ok ? 'kept' : result.status
        },
      }
    },
  }
}

function start(root: string): void {
  put(root, START)
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: root })
  execFileSync('git', ['config', 'core.hooksPath', '/dev/null'], { cwd: root })
  // Copies preserve times only to the microsecond.
  const timed = 'find . -name .git -prune -o -type f -exec touch -d @1000000000.5 {} +'
  execFileSync('bash', ['-c', scriptOf(['git add -A && git commit -qm one', timed])], { cwd: root })
}

describe.skipIf(BACKEND !== 'bubblewrap')('on layers', () => {
  test(`${SEQUENCES} sequences, kept or discarded, and undone`, async () => {
    const template = temporary()
    start(template)
    const since = Date.now() - 60_000
    const seen = { kept: 0, denied: 0, unchanged: 0, committed: 0 }
    const calls = fc.array(fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 8 }), keep: fc.boolean() }), {
      minLength: 1,
      maxLength: 2,
    })
    let session = 0
    const { root, log, call } = place()
    const plain = join(temporary(), 'plain')
    await fc.assert(
      fc.asyncProperty(calls, async (sequence) => {
        for (const folder of [root, plain]) {
          rmSync(folder, { recursive: true, force: true })
          cpSync(template, folder, COPY)
        }
        const id = `s${session++}`
        const undo: (readonly [turn: string, tree: Tree, repository: string])[] = []
        for (const [at, { steps, keep }] of sequence.entries()) {
          const turn = `${id}/${at}`
          const before = [treeOf(root, since), repositoryOf(root)] as const
          const script = scriptOf(steps)
          const { answer } = await call(turn, script)
          expect([treeOf(root, since), repositoryOf(root)]).toEqual(before)
          const end = await answer(keep ? 'once' : 'no')
          expect(['kept', 'denied', 'unchanged']).toContain(end)
          seen[end as 'kept']++
          if (keep) execFileSync('bash', ['-c', script], { cwd: plain, stdio: 'ignore' })
          const [ours, theirs] = [treeOf(root, since), treeOf(plain, since)]
          expect(timedWhereChanged(ours, before[0])).toEqual(timedWhereChanged(theirs, before[0]))
          const repository = repositoryOf(root)
          expect(repository).toEqual(repositoryOf(plain))
          if (repository.split('\n')[0] !== before[1].split('\n')[0]) seen.committed++
          // If only a time differs, continue from the same state.
          if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
            rmSync(plain, { recursive: true })
            cpSync(root, plain, COPY)
          }
          if (end === 'kept') undo.push([turn, ...before])
        }
        for (const [turn, tree, repository] of undo.reverse()) {
          expect(await log.undo(turn)).toMatchObject({ done: true, conflicts: [] })
          expect([withoutTimes(treeOf(root, since)), repositoryOf(root)]).toEqual([withoutTimes(tree), repository])
        }
      }),
      { numRuns: SEQUENCES, seed: 1, endOnFailure: true },
    )
    // In a short run, some outcomes may not occur.
    if (isAll) for (const [, count] of Object.entries(seen)) expect(count).toBeGreaterThan(0)
  }, 3_600_000)

  test('npm init and npm run format, kept and undone', async () => {
    const command = `npm init -y >/dev/null && npm pkg set scripts.format="sed -i s/o/0/ a src/a" && npm run -s format && touch -d @1200000000 a`
    const { root, log, call } = place()
    start(root)
    const plain = join(temporary(), 'work')
    cpSync(root, plain, COPY)
    const [before, since] = [treeOf(root, Date.now()), Date.now()]
    expect(await (await call('s/1', command)).answer('once')).toBe('kept')
    execFileSync('bash', ['-c', command], { cwd: plain, stdio: 'ignore' })
    expect(treeOf(root, since)).toEqual(treeOf(plain, since))
    expect(treeOf(root)).toMatchObject({ 'package.json': expect.stringContaining('"format"'), a: expect.stringContaining('0ne') })
    await log.undo('s/1')
    expect(withoutTimes(treeOf(root))).toEqual(withoutTimes(before))
  })

  test('two commands at once: both are kept where they do not meet, and else the second is a conflict that loses nothing', async () => {
    const root = temporary()
    start(root)
    const data = temporary()
    const [one, other] = [place(root, data), place(root, temporary())]
    const both = await Promise.all([one.call('s/1', 'echo mine > a; touch new'), other.call('t/1', 'echo yours > b; rm src/b')])
    expect(await Promise.all(both.map(({ answer }) => answer('once')))).toEqual(['kept', 'kept'])
    expect(treeOf(root)).toMatchObject({ a: expect.stringContaining('mine'), b: expect.stringContaining('yours'), new: expect.any(String) })
    const again = await Promise.all([one.call('s/2', 'echo 1 >> a; touch x'), other.call('t/2', 'echo 2 >> a; touch y')])
    expect((await Promise.all(again.map(({ answer }) => answer('once')))).sort()).toEqual(['kept', 'retry'])
    const tree = treeOf(root)
    expect([tree['a'], 'x' in tree, 'y' in tree]).toEqual(
      'x' in tree ? [expect.stringMatching(/mine\n1\n$/), true, false] : [expect.stringMatching(/mine\n2\n$/), false, true],
    )
  })
})

type Tree = ReturnType<typeof treeOf>

const withoutTime = (of: string): string => of.replace(/^(file \d+) \S+/, '$1')
const withoutTimes = (tree: Tree): Tree => Object.fromEntries(Object.entries(tree).map(([path, of]) => [path, withoutTime(of)]))

/** Writing the same bytes again is not a change, so the new time is not kept. */
const timedWhereChanged = (tree: Tree, before: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree).map(([path, of]) => [path, withoutTime(of) === withoutTime(before[path] ?? '') ? withoutTime(of) : of]),
  )
