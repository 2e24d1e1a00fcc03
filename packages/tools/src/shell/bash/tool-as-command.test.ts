import { expect, test } from 'vitest'
import { toolAsCommand } from './not-run.ts'

const PATCH = '*** Begin Patch\n*** Add File: a\n+one\n*** End Patch\n'

test('a patch that was sent to the shell is sent to the tool', () => {
  for (const script of [`apply_patch <<'EOF'\n${PATCH}EOF`, `apply_patch "${PATCH.trimEnd()}"`])
    expect(toolAsCommand(script, 'apply_patch')).toMatchObject({
      status: 'retry',
      details: { parameter: 'command', call: { tool: 'apply_patch', input: { patch: PATCH } } },
    })
})

test('other tools are named, other commands are none', () => {
  expect(toolAsCommand('read_file a.txt', 'read_file')).toMatchObject({
    message: '"read_file" is a tool, not a command: call it by itself, not through bash.',
  })
  expect(toolAsCommand('apply_patch', 'apply_patch')?.details).not.toHaveProperty('call')
  expect(toolAsCommand('make', 'make')).toBeUndefined()
})
