import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { temporary } from '../run.fixture.ts'
import { createStdio, type OpenStdio } from './standby.ts'

const BY_NAME = 'echo out >/dev/stdout; echo err >/dev/stderr'

test('the pipes of Node can not be opened by name: the reason for ours', async () => {
  const child = spawn('bash', ['--norc', '-c', 'echo out >/dev/stdout'], { stdio: ['ignore', 'pipe', 'ignore'] })
  expect(await text(child.stdout)).toBe('')
})

test('ours can, and end when the process does', async () => {
  const openStdio = createStdio(temporary())
  const { fds, stdout, stderr, spawned } = await openStdio()
  spawn('bash', ['-c', BY_NAME], { stdio: ['ignore', ...fds] })
  spawned()
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(['out\n', 'err\n'])
})

test.runIf(process.getuid?.() === 0)('by another user too', async () => {
  const openStdio = createStdio(temporary())
  const { fds, stdout, stderr, spawned } = await openStdio()
  spawn('setpriv', ['--reuid=1234', '--regid=1234', '--clear-groups', 'bash', '-c', BY_NAME], { stdio: ['ignore', ...fds] })
  spawned()
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(['out\n', 'err\n'])
})

test('many at once, each its own, and only unused names stay', async () => {
  const folder = temporary()
  const openers = [createStdio(folder), createStdio(folder)]
  const all = await Promise.all(
    Array.from({ length: 50 }, async (_, at) => {
      const { fds, stdout, stderr, spawned } = await (openers[at % 2] as OpenStdio)()
      spawn('bash', ['-c', `cat; echo ${at}`], { stdio: ['ignore', ...fds] })
      spawned()
      stderr.resume()
      return text(stdout)
    }),
  )
  expect(all).toEqual(all.map((_, at) => `${at}\n`))
  expect(readdirSync(folder).every((name) => name.startsWith('pipe-'))).toBe(true)
})
