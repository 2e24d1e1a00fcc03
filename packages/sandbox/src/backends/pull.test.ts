import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeEngines } from './container/container.fixture.ts'
import { pull } from './container/engine.ts'

const digest = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A registry with one image that has one empty layer: enough to pull from. */
const tar = Buffer.alloc(1024)
const layer = gzipSync(tar)
const config = Buffer.from(
  JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [digest(tar)] } }),
)
const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json'
const manifest = Buffer.from(
  JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: { mediaType: 'application/vnd.docker.container.image.v1+json', size: config.length, digest: digest(config) },
    layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', size: layer.length, digest: digest(layer) }],
  }),
)
const asked: string[] = []
const registry = createServer((request, response) => {
  asked.push(request.url ?? '')
  const [, what, name = ''] = /\/(manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? []
  const blob = [config, layer].find((bytes) => digest(bytes) === name)
  const isManifest = what === 'manifests' && (name === 'latest' || name === digest(manifest))
  const body = isManifest ? manifest : blob
  if (request.url === '/v2/') response.end()
  else if (body)
    response
      .writeHead(200, {
        'Content-Length': body.length,
        ...(isManifest && { 'Content-Type': MANIFEST, 'Docker-Content-Digest': digest(body) }),
      })
      .end(request.method === 'HEAD' ? undefined : body)
  else response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}')
})
beforeAll(() => once(registry.listen(0, '127.0.0.1'), 'listening'))
afterAll(() => registry.close())

describeEngines('fetching an image', (fixture, name) => {
  const host = () => `127.0.0.1:${(registry.address() as AddressInfo).port}`

  // Podman rejects an unencrypted registry unless its configuration allows it.
  test.skipIf(name === 'podman')('says how it continues, and takes one tag where none is given', async () => {
    const said: string[] = []
    const image = `${host()}/mulligan-pulled`
    await pull(fixture.engine(), image, { onProgress: (line) => said.push(line) })
    expect(said.join('\n')).toMatch(/Pulling from mulligan-pulled(.|\n)*Pull complete(.|\n)*Downloaded newer image/)
    expect(new Set(said).size).toBe(said.length)
    expect(asked.filter((url) => url.includes('tags/list'))).toEqual([])
    await fixture.engine().api.getImage(`${image}:latest`).remove()
  })

  test('that does not exist', async () => {
    await expect(pull(fixture.engine(), `${host()}/no-such-image:1`, {})).rejects.toMatchObject({
      name: 'SandboxError',
      message: expect.stringContaining(`${name} can't fetch ${host()}/no-such-image:1: `),
      remedy: expect.stringContaining('sandbox.image'),
    })
  })

  test('can be stopped', async () => {
    await expect(pull(fixture.engine(), `${host()}/mulligan-pulled`, { signal: AbortSignal.abort() })).rejects.toThrow('was stopped')
  })
})
