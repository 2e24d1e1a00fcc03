/** Tests reading images from the clipboard with real programs in place of the desktop's. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place } from '../../test/cli.fixture.ts'
import { createClipboard, pngIn } from './clipboard.ts'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const idle = new AbortController().signal

/** A clipboard that is read by the given script. */
function clipboard(name: string, script: string, env: Record<string, string>, platform: NodeJS.Platform = 'linux') {
  const here = place({})
  const work = place({})
  writeFileSync(join(here.dir, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(here.dir, name), 0o755)
  return { here, work, ...createClipboard({ PATH: `${here.dir}:/usr/bin:/bin`, ...env }, work.dir, platform) }
}

describe('an image in the clipboard', () => {
  it.each([
    [
      'wl-paste',
      `[ "$*" = '--type image/png' ] && printf '\\211PNG\\r\\n\\032\\n'`,
      { WAYLAND_DISPLAY: 'wayland-0', DISPLAY: ':0' },
      'linux',
    ],
    ['xclip', `[ "$5" = -o ] && printf '\\211PNG\\r\\n\\032\\n'`, { DISPLAY: ':0' }, 'linux'],
    ['osascript', `printf '«data PNGf89504E470D0A1A0A»\\n'`, {}, 'darwin'],
  ] as const)('is read by %s into a file that only the user can read', async (name, script, env, platform) => {
    const { image, close } = clipboard(name, script, env, platform)
    const path = await image(idle)
    expect([readFileSync(path), statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([PNG, 0o600, 0o700])
    expect(await image(idle)).not.toBe(path)
    close()
    expect(existsSync(dirname(path))).toBe(false)
  })

  it.each([
    ['the reader fails', 'xclip', 'exit 1', { DISPLAY: ':0' }, 'there is no image in the clipboard'],
    ['there is text', 'xclip', 'echo hello', { DISPLAY: ':0' }, 'there is no image in the clipboard'],
    ['it never ends', 'xclip', 'cat /dev/zero', { DISPLAY: ':0' }, 'there is no image in the clipboard'],
    ['the reader is missing', 'other', '', { DISPLAY: ':0', PATH: '/nowhere' }, 'xclip is not installed'],
    ['there is no desktop', 'xclip', '', {}, 'no clipboard can be reached from this terminal'],
  ])('that cannot be read is told: %s', async (_, name, script, env, message) => {
    await expect(clipboard(name, script, env).image(idle)).rejects.toThrow(message)
  })

  it('is not read by a program of the project', async () => {
    const { here } = clipboard('xclip', `printf '\\211PNG\\r\\n\\032\\n'`, {})
    const { image } = createClipboard({ PATH: here.dir, DISPLAY: ':0' }, here.dir, 'linux')
    await expect(image(idle)).rejects.toThrow('xclip is not installed')
  })
})

it('reads nothing else as an image', () => {
  for (const text of ['', '«data PNGf»', '«data TIFF89504E47»', '<svg/>']) expect(pngIn(Buffer.from(text))).toBeUndefined()
})
