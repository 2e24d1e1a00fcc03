import type { Tool } from '@mulligan/core'
import type { ErrorDetails, ToolExample } from '@mulligan/core/executor'
import { describe, expect, test } from 'vitest'
import { createWorkspace, fileTools } from '../index.ts'
import { fixture, put, refused, run, temporary } from '../workspace.fixture.ts'

const TOKENS = 1290

const tools = fileTools(createWorkspace(temporary()))

describe('the set', () => {
  test('has the tools, in their order', () => {
    expect(tools.map((tool) => tool.name)).toEqual([
      'read_file',
      'write_file',
      'edit_file',
      'apply_patch',
      'move_file',
      'delete_file',
      'make_dir',
      'list_dir',
      'tree',
      'glob',
      'grep',
    ])
    expect(tools.map((tool) => tool.effect)).toEqual([
      'read',
      'write',
      'write',
      'write',
      'write',
      'write',
      'write',
      'read',
      'read',
      'read',
      'read',
    ])
  })

  test(`costs at most ${TOKENS} tokens with schemas and descriptions`, () => {
    const text = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, parameters: inputSchema })).join('')
    expect(Math.ceil(text.length / 4)).toBeLessThanOrEqual(TOKENS)
  })

  test('every parameter has a description', () => {
    for (const tool of tools)
      for (const [name, schema] of Object.entries(tool.inputSchema['properties'] as object))
        expect(schema, `${tool.name}.${name}`).toHaveProperty('description')
  })

  test('no two tools share a name or alias', () => {
    const names = tools.flatMap((tool) => [tool.name, ...tool.aliases.map((alias) => alias.name)])
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('examples', () => {
  for (const { name, examples } of tools)
    test.each(
      examples.map((example) => [example.outcome, JSON.stringify(example.input), example] as const),
    )(`${name} %s %s`, async (outcome, _, example) => {
      const { root, tool } = fixture()
      put(root, example.files ?? {})
      if (outcome === 'ok' || outcome === 'empty') {
        const result = await run(tool(name), example.input)
        if (outcome === 'empty') expect(result.count).toBe(0)
        else expect(result.count).not.toBe(0)
        return
      }
      const error = await refused(tool(name), example.input)
      expect(error.status).toBe(outcome)
      expect(error.details).toHaveProperty('constraint')
      expect(error.message).not.toContain(root)
      if (outcome === 'retry') await worksAsItStands(tool, name, example.input, error.details)
    })

  /** Checks that the suggested call, or the suggested value in its parameter, works unchanged. */
  async function worksAsItStands(
    find: (name: string) => Tool,
    name: string,
    input: ToolExample['input'],
    details: ErrorDetails,
  ): Promise<void> {
    const { call, parameter = '', suggestion } = details
    if (call) await run(find(call.tool), call.input)
    else if (suggestion !== undefined) await run(find(name), { ...input, [parameter]: suggestion })
  }
})
