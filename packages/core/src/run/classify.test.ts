import { expect, test } from 'vitest'
import { ModelRetry, ToolFailure } from '../errors.ts'
import { render } from '../render.ts'
import { fromThrown } from './classify.ts'

test('what a command had printed is below the message of its failure', () => {
  const result = fromThrown(new ToolFailure('It exited with code 1.', { content: '1 test failed', exitCode: 1 }), 'run')
  expect(result).toMatchObject({ content: '1 test failed', details: { exitCode: 1 } })
  expect(result.details).not.toHaveProperty('content')
  expect(render(result)).toMatch(/^failed \(execution\): It exited with code 1\.\n1 test failed\n/)
  expect(fromThrown(new ModelRetry('No.'), 'run')).not.toHaveProperty('content')
})
