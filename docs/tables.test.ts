/** The tables in the pages are those of the code: statuses, error types, exit codes, flags, variables, parameters. */
import { globSync } from 'node:fs'
import { defineTool, notOk } from '@mulligan/core'
import { createExecutor, DEFAULT_STATUS, type Status } from '@mulligan/core/executor'
import { createWorkspace, fileTools, gitTools, shellTools, thinkTools, webTools } from '@mulligan/tools'
import { describe, expect, it } from 'vitest'
import { EXIT } from '../packages/cli/src/process.ts'
import { commandsIn, flagsIn, help } from './help.fixture.ts'
import { pageText, tableUnder } from './page.fixture.ts'
import { ROOT } from './run.fixture.ts'
import { factsOf } from './tool-facts.fixture.ts'

describe('docs/contract.md', () => {
  const page = pageText('docs/contract.md')
  /** Fails to compile when a status comes or goes. */
  const STATUSES: Readonly<Record<Status, true>> = {
    retry: true,
    failed: true,
    unavailable: true,
    denied: true,
    indeterminate: true,
    closed: true,
    blocked: true,
    cancelled: true,
  }

  it('the table of the contract has every status, and says which of them spends a retry', async () => {
    const rows = tableUnder(page, 'Statuses')
    expect(rows.map(([status]) => status)).toEqual(['ok', ...Object.keys(STATUSES)])
    const spends = Object.fromEntries(
      await Promise.all(
        (Object.keys(STATUSES) as Status[]).map(async (status) => {
          const types: string[] = []
          const tool = defineTool({
            name: 'x',
            description: 'x',
            effect: 'read',
            input: { type: 'object' },
            execute: () => notOk('execution', 'x', { status }),
          })
          const executor = createExecutor({ tools: [tool], onEvent: ({ type }) => void types.push(type) })
          const prepared = await executor.prepare({ id: 't', step: 1, ordinal: 0, name: 'x', input: {} })
          if (prepared.kind === 'ready') await executor.execute(prepared.call)
          return [status, types.includes('tool.retry') ? 'yes' : 'no']
        }),
      ),
    )
    expect(Object.fromEntries(rows.slice(1).map(([status, , , spent]) => [status, spent]))).toEqual(spends)
  })

  it('every error type stands with its default status', () => {
    const told = tableUnder(page, 'Error types').flatMap(([types = '', status]) => types.split(', ').map((type) => [type, status]))
    expect(Object.fromEntries(told)).toEqual(DEFAULT_STATUS)
  })
})

describe('docs/cli.md', () => {
  const page = pageText('docs/cli.md')

  it('every command, and every flag of each, and no other', async () => {
    const names = commandsIn(await help()).filter((name) => name !== 'help')
    const inner = await Promise.all(
      names.map(async (name) => {
        const below = commandsIn(await help(name)).filter((one) => one !== 'help')
        return below.length > 0 ? below.map((one) => `${name} ${one}`) : [name]
      }),
    )
    for (const command of inner.flat()) {
      if (command === 'completion') continue
      const told = tableUnder(page, `mulligan ${command}`).map(([flag = '']) => flag.split(' ')[0])
      expect([command, told.sort()]).toEqual([
        command,
        flagsIn(await help(...command.split(' ')))
          .filter((flag) => flag !== '--help')
          .sort(),
      ])
    }
    expect([...page.matchAll(/^## `mulligan ([^`]*)`/gm)].map(([, name]) => name)).toEqual(inner.flat())
  })

  it('every environment variable that is read', () => {
    const sources = globSync('packages/{cli,host}/src/**/*.ts', { cwd: ROOT }).filter((file) => !/\.test\.ts$|fixtures?/.test(file))
    const read = sources.flatMap((file) =>
      [
        ...pageText(file).matchAll(
          /\benv\['(\w+)'\]|(?:\bvariable: |\bownFolder\(.*?)'([A-Z_]+)'|\bkeys: \[('[A-Z_]+'(?:, '[A-Z_]+')*)\]/g,
        ),
      ].flatMap(([, read, named, keys = '']) => (read || named ? [read ?? named] : keys.replaceAll("'", '').split(', '))),
    )
    const told = tableUnder(page, 'Environment').map(([name]) => name)
    expect(told.toSorted()).toEqual([...new Set(read)].filter((name) => !NOT_TOLD.has(name ?? '')).toSorted())
  })

  it('every exit code', () => {
    expect(
      tableUnder(page, 'Exit codes')
        .map(([code]) => Number(code))
        .sort(),
    ).toEqual(Object.values(EXIT).sort())
  })
})

/** Of the platform, not ours to explain. */
const NOT_TOLD = new Set(['TERM', 'NODE_ENV', 'LOCALAPPDATA', 'PATH', 'SystemRoot'])

describe('docs/tools.md', () => {
  const page = pageText('docs/tools.md')
  const workspace = createWorkspace(ROOT)
  const shell = shellTools({ workspace, sandbox: () => Promise.reject(new Error('no command is run')) })
  const tools = [...fileTools(workspace), ...shell.tools, ...webTools(), ...gitTools(workspace), ...thinkTools()]

  it('has every tool, in their order', () => {
    expect([...page.matchAll(/^## `(\w+)`/gm)].map(([, name]) => name)).toEqual(tools.map(({ name }) => name))
  })

  it.each(tools.map((tool) => [tool.name, tool] as const))('%s: names, effect, time and parameters are those of the tool', (name, tool) => {
    const section = page.split(`## \`${name}\``)[1]?.split('\n## ')[0] ?? ''
    expect(section).toContain(factsOf(tool))
  })
})
