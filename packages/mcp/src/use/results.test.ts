/** Results of servers, which may contain anything. */
import { expect, it } from 'vitest'
import { resultOf } from './results.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const contentOf = (...content: object[]) => resultOf({ content } as never, false).content

it.each<[string, object, unknown]>([
  ['an image', { type: 'image', data: PNG, mimeType: 'image/png' }, { type: 'media', mediaType: 'image/png', data: PNG }],
  ['an image with another type', { type: 'image', data: PNG, mimeType: 'image/jpg' }, { type: 'media', mediaType: 'image/png', data: PNG }],
  [
    'an image in a resource',
    { type: 'resource', resource: { uri: 'a:b', blob: PNG } },
    { type: 'media', mediaType: 'image/png', data: PNG },
  ],
])('%s is one', (_, item, part) => expect(contentOf(item)).toEqual([part]))

it.each<[string, object, RegExp]>([
  ['a sound', { type: 'audio', data: 'UklG', mimeType: 'audio/wav' }, /^\[audio\/wav, 3 bytes: not an image/],
  ['a page', { type: 'image', data: 'PGI+', mimeType: 'text/html' }, /^\[text\/html, /],
  ['no base64', { type: 'image', data: `${PNG.slice(0, -4)}!!!=`, mimeType: 'image/png' }, /^\[image\/png, /],
  ['half of it', { type: 'image', data: PNG.slice(0, 41), mimeType: 'image/png' }, /^\[image\/png, /],
  ['one that only says so', { type: 'image', data: 'AAAA', mimeType: 'image/png' }, /^\[image\/png, /],
  ['a very large one', { type: 'image', data: PNG.slice(0, 12).padEnd(5_000_000, 'A'), mimeType: 'image/png' }, /3,750,000 bytes/],
  ['a type that is none', { type: 'image', data: 'AAAA', mimeType: '\u001b[2J x' }, /^\[application\/octet-stream, /],
  ['a file', { type: 'resource', resource: { uri: 'a:b', blob: 'AAAA', mimeType: 'application/zip' } }, /^\[application\/zip, /],
])('%s is named, and no image', (_, item, says) => expect(contentOf(item)).toMatch(says))
