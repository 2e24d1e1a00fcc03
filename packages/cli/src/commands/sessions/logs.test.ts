/** `mulligan logs`, alone and following another process. */
import { call, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it } from 'vitest'
import { place, using } from '../../../test/cli.fixture.ts'

const words = (text: string): readonly string[] => text.split('\n').flatMap((line) => line.split(/\s+/)[1] ?? [])

describe('the stored events', () => {
  it('as lines: of the latest session, of a named one, and after an event', async () => {
    await using model = await scriptedModel([call('write_file', { path: 'a.txt', content: 'a\n' }), say('Written.')])
    using here = place()
    const { stdout } = await here.run(['Write a', '--yes', '--json', ...using(model)])
    const { sessionId } = JSON.parse(stdout) as { sessionId: string }
    const shown = await here.run(['logs'])
    expect([shown.code, words(shown.stdout)]).toEqual([0, ['session', 'turn', 'call', 'asks', 'answered', 'result', 'says', 'end']])
    expect(shown.stdout).toMatch(/result {4}✓ write_file a\.txt/)
    const events = (await here.run(['logs', sessionId.slice(0, 14), '--json'])).stdout.trim().split('\n')
    const ids = events.map((line) => (JSON.parse(line) as { id: number }).id)
    expect(ids).toEqual(ids.map((_, at) => at + 1))
    expect((await here.run(['logs', '--json', '--after', String(ids.length - 1)])).stdout.trim()).toBe(events.at(-1))
  })

  it('without keys of the environment, and without escapes', async () => {
    await using model = await scriptedModel([say('\u001b[2Jthe-secret-key')])
    using here = place()
    const env = { SOME_API_KEY: 'the-secret-key' }
    await here.run(['Hi', ...using(model)])
    for (const flags of [[], ['--json']]) expect((await here.run(['logs', ...flags], { env })).stdout).not.toMatch(/\u001b|the-secret-key/)
    expect((await here.run(['logs', '--json'])).stdout).toContain('the-secret-key')
  })

  it('of no session: what to do', async () => {
    using here = place()
    expect(await here.run(['logs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no session') })
    expect(await here.run(['logs', 'nonsense', '--json'])).toMatchObject({ code: 2, stdout: expect.stringContaining('"hint"') })
  })
})

describe('--follow', () => {
  it('goes on with the events of another process, until Ctrl-C', async () => {
    await using model = await scriptedModel([say('One.'), say('Two.')])
    using here = place()
    await here.run(['One?', ...using(model)])
    const following = here.start(['logs', '--follow', '--json'])
    const text = textOf(following)
    await text.until('"turn.ended"')
    await here.run(['run', 'Two?', '--last', ...using(model)])
    await text.until('Two.')
    await text.until('"turn.ended"', 2)
    following.child.kill('SIGINT')
    const { code, stdout } = await following.ended
    const ids = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: number }).id)
    expect([code, ids]).toEqual([130, ids.map((_, at) => at + 1)])
  })

  it('ends with 0 when its output is closed, and with 1 when the session is deleted', async () => {
    await using model = await scriptedModel([say('One.'), say('Two.')])
    using here = place()
    await here.run(['One?', ...using(model)])
    const piped = here.start(['logs', '-f'])
    await textOf(piped).until('end')
    piped.child.stdout.destroy()
    // It notices with the next line.
    await here.run(['run', 'Two?', '--last', ...using(model)])
    expect((await piped.ended).code).toBe(0)
    const deleted = here.start(['logs', '-f'])
    await textOf(deleted).until('Two.')
    const { stdout } = await here.run(['sessions', '--json'])
    const { sessions } = JSON.parse(stdout) as { sessions: { id: string }[] }
    await here.run(['sessions', 'delete', sessions[0]?.id ?? '', '--yes'])
    expect(await deleted.ended).toMatchObject({ code: 1, stderr: expect.stringContaining('was deleted') })
  })
})

/** Waits for a text on stdout. */
function textOf({ child }: ReturnType<ReturnType<typeof place>['start']>) {
  let text = ''
  const checks = new Set<() => void>()
  child.stdout.on('data', (piece: string) => {
    text += piece
    for (const check of checks) check()
  })
  return {
    until: (part: string, times = 1) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (text.split(part).length > times) resolve()
        }
        checks.add(check)
        check()
      }),
  }
}
