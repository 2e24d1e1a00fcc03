import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MAX_IMAGE_BYTES, readAttached, readImages } from './images.ts'

const dir = mkdtempSync(join(tmpdir(), 'images-'))
afterAll(() => rmSync(dir, { recursive: true }))

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const HEADS = { png: PNG, jpeg: Buffer.from('ffd8ffe0', 'hex'), gif: Buffer.from('GIF89a'), webp: Buffer.from('RIFF....WEBPVP8 ') }
for (const [name, bytes] of Object.entries(HEADS)) writeFileSync(join(dir, name), bytes)
const file = (name: string, bytes: Buffer | string): string => {
  writeFileSync(join(dir, name), bytes)
  return name
}

describe('images that a message names', () => {
  it('are known by what they contain, not by their names', () => {
    const names = [...Object.keys(HEADS), file('text.png', 'no image'), file('empty.png', ''), file('a.svg', '<svg/>'), 'gone.png', '.']
    expect(readImages(dir, names)).toEqual({
      images: Object.entries(HEADS).map(([name, bytes]) => ({ name, mediaType: `image/${name}`, data: bytes.toString('base64') })),
      problems: [],
    })
  })

  it('may be anywhere, and behind a link', () => {
    symlinkSync(join(dir, 'png'), join(dir, 'link'))
    expect(readImages('/', [join(dir, 'png'), join(dir, 'link')]).images.map(({ mediaType }) => mediaType)).toEqual([
      'image/png',
      'image/png',
    ])
  })

  it('have a size and a number up to which they are sent', () => {
    const big = file('big.png', Buffer.concat([PNG, Buffer.alloc(MAX_IMAGE_BYTES)]))
    const many = Array.from({ length: 11 }, () => 'png')
    const { images, problems } = readImages(dir, [big, ...many])
    expect([images.length, problems]).toEqual([
      10,
      ['big.png is not sent: it is larger than 3.5 MB. Scale it down.', 'png is not sent: a message can have 10 images.'],
    ])
  })

  it('that are attached besides count towards the number', () => {
    expect(readImages(dir, ['png', 'png'], 9)).toEqual({ images: [expect.anything()], problems: [expect.stringContaining('10 images')] })
  })

  it.skipIf(process.platform === 'win32')('a FIFO is not waited for', () => {
    execFileSync('mkfifo', [join(dir, 'pipe.png')])
    expect(readImages(dir, ['pipe.png', '/dev/zero'])).toEqual({ images: [], problems: [] })
  })
})

describe('attached images', () => {
  it('are sent with the names that they were given', () =>
    expect(readAttached(dir, ['png', './jpeg']).map(({ name, mediaType }) => [name, mediaType])).toEqual([
      ['png', 'image/png'],
      ['./jpeg', 'image/jpeg'],
    ]))

  it.each([
    ['missing.png', "missing.png can't be attached: there is no such file"],
    ['.', ". can't be attached: it is not a file but a folder"],
    [file('prose.png', 'no image'), "prose.png can't be attached: it does not contain an image that models take"],
    [file('huge.png', Buffer.concat([PNG, Buffer.alloc(MAX_IMAGE_BYTES)])), /^huge\.png can't be attached: it is larger than 3\.5 MB/],
    ['a\x1b[2Jb', /^a ?\S*b can't be attached: there is no such file$/],
  ])('%j: %s', (path, message) => expect(() => readAttached(dir, ['png', path])).toThrow(message))

  it('are ten at most', () =>
    expect(() => readAttached(dir, Array(11).fill('png'))).toThrow('11 images are attached; a message can have 10 images'))
})
