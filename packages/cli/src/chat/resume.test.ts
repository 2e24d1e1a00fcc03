/** Tests how a chat goes on with an earlier session, in a real terminal. */
import { dirname } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { describe, it } from 'vitest'
import { BIN, type CliFixture, NO_SERVERS, place, using } from '../../test/cli.fixture.ts'
import { hasScreen, openScreen } from '../../test/screen.fixture.ts'

const start = (here: CliFixture, ...args: readonly string[]) =>
  openScreen([process.execPath, BIN, ...args], {
    ...{ cwd: here.dir, env: { HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS } },
  })

// In CI, these tests fail if tmux is missing.
describe.skipIf(!hasScreen).concurrent('in a terminal, without naming the model of the session', () => {
  it('--resume lists the sessions; the chosen one goes on with its model; Escape takes none', async ({ expect }) => {
    using here = place()
    await using model = await scriptedModel([say('One.'), say('Two.'), say('Three.')])
    await here.run(['first', ...using(model)])
    await here.run(['second', ...using(model)])
    await using screen = await start(here, '--resume')
    await screen.until(/^Sessions · 2[\s\S]*› .*second\n.*first[\s\S]*Esc close$/)
    await screen.paste('first\n')
    await screen.until(/search: first ?_[\s\S]*› .*first/)
    await screen.keys('Enter')
    await screen.ready(/> first\n\nOne\.[\s\S]*scripted on this machine/)
    await screen.type('go on')
    await screen.keys('Enter')
    await screen.until(/> go on\n\nThree\./)
    expect(await screen.all()).not.toContain('Sessions ·')
    await using none = await start(here, '-r')
    await none.until(/^Sessions · 2/)
    await none.keys('C-c')
    expect(await none.until('no model was named')).not.toContain('Sessions ·')
    expect(await none.ended()).toBe(2)
  })

  it('--resume ID takes that session; plain lines ask for a number', async ({ expect }) => {
    using here = place()
    await using model = await scriptedModel([say('One.')])
    await here.run(['first', ...using(model)])
    await using one = await start(here, '--resume', '2')
    await one.until(/> first\n\nOne\./)
    await using other = await start(here, '--plain', '-r')
    await other.until(/1 .*first\nNumber of the session/)
    await other.type('7')
    await other.keys('Enter')
    await other.until(/: 7\nNumber of the session/)
    await other.type('1')
    await other.keys('Enter')
    await other.until(/You: first\n\nOne\.[\s\S]*\n>$/)
    await using wrong = await start(here, '--resume=none')
    expect(await wrong.until(/there is no session none/)).toContain('first')
  })

  it('a signal ends the list, and the terminal is as it was', async ({ expect }) => {
    using here = place()
    const outer = `sh -c 'echo $$ > pid; exec "$0" "$@"' "$0" "$@"; stty -a | tr ' ;' '\\n\\n' | grep -x -e '-*icanon'; sleep 60`
    await using screen = await openScreen(['/bin/sh', '-c', outer, process.execPath, BIN, '--resume'], {
      ...{ cwd: here.dir, env: { HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS } },
    })
    await screen.until(/There are no sessions in this folder yet/)
    process.kill(Number(here.read('pid')), 'SIGTERM')
    await screen.until(/^icanon$/m)
    expect(await screen.text()).not.toContain('Sessions')
    expect((await screen.cursor()).shown).toBe(true)
  })
})
