/** Ctrl-Z and fg, in a real terminal with a shell that has jobs. */
import { dirname } from 'node:path'
import { say, scriptedModel } from '@mulligan/testing'
import { expect, it } from 'vitest'
import { BIN, NO_SERVERS, place, using } from '../../test/cli.fixture.ts'
import { hasScreen, openScreen } from '../../test/screen.fixture.ts'

it.skipIf(!hasScreen)('Ctrl-Z gives the terminal back to the shell, and fg goes on with what was typed', async () => {
  using here = place()
  await using model = await scriptedModel([say('Here I am.')])
  const env = { HOME: dirname(here.dir), MULLIGAN_DATA_DIR: here.data, ...NO_SERVERS, PS1: 'shell$ ' }
  await using screen = await openScreen(['/bin/sh', '-i'], { cwd: here.dir, env })
  await screen.until('shell$')
  await screen.type(`${[process.execPath, BIN, 'chat', ...using(model)].map((word) => `'${word}'`).join(' ')}\n`)
  await screen.ready('What should be done?')
  await screen.type('half of it')
  await screen.until('> half of it')
  await screen.keys('C-z')
  await screen.until(/Stopped[\s\S]*shell\$$/)
  await screen.type('echo the shell "listens"\n')
  await screen.until(/^the shell listens$/m)
  await screen.type('fg\n')
  await screen.ready(/^> half of it$(?![\s\S]*shell\$)/m)
  await screen.type(', and the rest')
  await screen.keys('Enter')
  await screen.until('Here I am.')
  expect(JSON.stringify(model.requests[0]?.body)).toContain('half of it, and the rest')
  await screen.keys('C-d')
  await screen.until(/To continue[\s\S]*shell\$$/)
})
