/** Tests a process that is suspended in the middle of a turn, and another one that takes over its session. */
import { call, say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { type Ended, place, type Running, using } from '../../test/cli.fixture.ts'

it.skipIf(process.platform === 'win32')(
  'the suspended one does nothing more, and says why',
  async () => {
    using here = place()
    let first: Running | undefined
    let suspended = (): void => undefined
    const isSuspended = new Promise<void>((resolve) => {
      suspended = resolve
    })
    await using model = await scriptedModel([
      () => {
        first?.child.kill('SIGSTOP')
        suspended()
        return call('write_file', { path: 'first.md', content: 'x\n' })
      },
      call('write_file', { path: 'second.md', content: 'x\n' }),
      say('Done.'),
    ])
    const again = (...more: string[]): Promise<Ended> => here.run(['run', '--last', 'Go on.', '--yes', ...more, ...using(model)])
    first = here.start(['Write a file.', '--yes', ...using(model)])
    await isSuspended
    expect(await again()).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/in use by process \d+\nWait for it to end, or add --take-over/),
    })
    expect(await again('--take-over')).toMatchObject({ code: 0, stdout: expect.stringContaining('Done.') })

    first.child.kill('SIGCONT')
    expect(await first.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('Another process took over session') })
    expect([here.has('first.md'), here.has('second.md')]).toEqual([false, true])
  },
  60_000,
)
