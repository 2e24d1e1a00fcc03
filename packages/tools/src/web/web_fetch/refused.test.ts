/** Addresses that must not be reached, regardless of spelling or redirects. Each guard has a control that shows the harm without it. */
import { describe, expect, test } from 'vitest'
import { refused, run } from '../../workspace.fixture.ts'
import type { Lookup } from '../net/connect.ts'
import { type Guard, publicOnly } from '../net/guard.ts'
import { redirects, site } from '../server.fixture.ts'
import { webFetchTool } from './tool.ts'

/** Only whether the server was reached matters, so skip rendering, which starts a worker for each page. */
const RAW = { format: 'html' } as const
const SECRET = 'the inner page'
const inner = await site({ '/': `<p>${SECRET}</p>`, '/latest/meta-data/': SECRET })
const { port } = inner

const open: Guard = { url: () => undefined, address: () => undefined }
/** Resolves every name to this machine. */
const toHere: Lookup = async () => [{ address: '127.0.0.1', family: 4 }]

const SPELLINGS = `
http://127.0.0.1:PORT/
http://127.0.0.1:PORT
HTTP://127.0.0.1:PORT/
http:127.0.0.1:PORT/
http:/127.0.0.1:PORT/
http:///127.0.0.1:PORT/
http:\\\\127.0.0.1:PORT/
http://127.0.0.1.:PORT/
http://2130706433:PORT/
http://017700000001:PORT/
http://0x7f000001:PORT/
http://0X7F.0.0.1:PORT/
http://0x7f.1:PORT/
http://0177.0.0.1:PORT/
http://0177.0x0.0.1:PORT/
http://127.1:PORT/
http://127.0.1:PORT/
http://127.00.00.01:PORT/
http://127.8.8.8:PORT/
http://127.0.0.1:PORT/latest/meta-data/
http://①②⑦.⓪.⓪.①:PORT/
http://127。0。0。1:PORT/
http://１２７.0.0.1:PORT/
http://%31%32%37.0.0.1:PORT/
http://0:PORT/
http://0.0.0.0:PORT/
http://0x0:PORT/
http://[::]:PORT/
http://[::1]:PORT/
http://[0:0:0:0:0:0:0:1]:PORT/
http://[::ffff:127.0.0.1]:PORT/
http://[::ffff:7f00:1]:PORT/
http://[0:0:0:0:0:FFFF:7F00:0001]:PORT/
http://[::127.0.0.1]:PORT/
http://[::ffff:0:127.0.0.1]:PORT/
http://[64:ff9b::127.0.0.1]:PORT/
http://[64:ff9b::7f00:1]:PORT/
http://[2002:7f00:1::]:PORT/
http://[2001:0:101:101::80ff:fffe]:PORT/
http://localhost:PORT/
http://LOCALHOST:PORT/
http://LocalHost.:PORT/
http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/
http://foo.localhost:PORT/
http://printer.local:PORT/
http://metadata.google.internal/computeMetadata/v1/
http://router.home.arpa:PORT/
http://user:pass@127.0.0.1:PORT/
http://example.com@127.0.0.1:PORT/
http://example.com%40@127.0.0.1:PORT/
http://example.com:80@127.0.0.1:PORT/
http://127.0.0.1:PORT\\@example.com/
http://127.0.0.1:PORT#@example.com/
http://127.0.0.1:PORT?@example.com/
http://169.254.169.254/latest/meta-data/
http://2852039166/latest/meta-data/
http://0xa9fea9fe/
http://[::ffff:169.254.169.254]/
http://[fd00:ec2::254]/
http://168.63.129.16/
http://100.100.100.200/
http://10.0.0.1/
http://172.16.0.1/
http://172.31.255.255/
http://192.168.0.1/
http://192.0.0.192/
http://198.18.0.1/
http://224.0.0.1/
http://240.0.0.1/
http://255.255.255.255/
http://[fe80::1]/
http://[fc00::1]/
http://[ff02::1]/
http://[fec0::1]/
http://1.1.1.1:22/
http://1.1.1.1:6379/
https://1.1.1.1:25/
localhost:PORT
127.0.0.1:PORT
//127.0.0.1:PORT/
127.1:PORT/
htp://127.0.0.1:PORT/
  http://127.0.0.1:PORT/
<http://127.0.0.1:PORT/>
[page](http://127.0.0.1:PORT/)
ht\ttp://127.0.0.1:PORT/
file:///etc/passwd
file://127.0.0.1/etc/passwd
ftp://127.0.0.1/
gopher://127.0.0.1:PORT/_GET
dict://127.0.0.1:PORT/
data:text/html,hello
javascript:alert(1)
ws://127.0.0.1:PORT/
view-source:http://127.0.0.1:PORT/
blob:http://127.0.0.1:PORT/1
unix:///var/run/docker.sock
http://
http://:PORT/
http://127.0.0.1:99999/
http://256.256.256.256/
http://[::1%25lo]:PORT/
http://127.0.0.1%00.example.com:PORT/
`
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => line.replaceAll('PORT', String(port)))

describe('spellings of what is not public', () => {
  test('there are enough of them', () => expect(new Set(SPELLINGS).size).toBeGreaterThanOrEqual(60))

  test.each(SPELLINGS)('%s', async (url) => {
    const asked: string[] = []
    const lookup: Lookup = async (name) => {
      asked.push(name)
      return toHere(name)
    }
    const error = await refused(webFetchTool({ lookup }), { url })
    expect(['permission', 'validation']).toContain(error.errorType)
    // A corrected call would be refused too, so none is suggested.
    expect(error.details.suggestion).toBeUndefined()
    expect([inner.hits, asked]).toEqual([[], []])
  })

  test.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://127.1:PORT/',
    'http://localhost:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
  ])('control: without the guard %s is reached', async (url) => {
    const { data } = await run(webFetchTool({ guard: open }), { url: url.replace('PORT', String(port)), ...RAW })
    expect(data['text']).toContain(SECRET)
    inner.hits.length = 0
  })
})

describe('names', () => {
  test('one that leads to this machine is refused, and the address stays unsaid', async () => {
    const error = await refused(webFetchTool({ lookup: toHere }), { url: `http://rebind.example.com:${port}/` })
    expect(error).toMatchObject({ errorType: 'permission', status: 'failed' })
    expect(error.message).toContain('rebind.example.com leads to a loopback address')
    expect(error.message).not.toContain('127.0.0.1')
    expect(inner.hits).toEqual([])
  })

  test('control: without the guard of addresses it is reached', async () => {
    const { data } = await run(webFetchTool({ lookup: toHere, guard: open }), { url: `http://rebind.example.com:${port}/`, ...RAW })
    expect(data['text']).toContain(SECRET)
    inner.hits.length = 0
  })

  test('of mixed answers only the public ones are tried', async () => {
    const tried: string[] = []
    const guard: Guard = {
      url: () => undefined,
      address: (address) => {
        tried.push(address)
        return publicOnly().address(address, 'x:80')
      },
    }
    const lookup: Lookup = async () => [
      { address: '127.0.0.1', family: 4 },
      // A public address where nothing answers.
      { address: '2606:4700::dead', family: 6 },
    ]
    const error = await refused(webFetchTool({ lookup, guard, seconds: 2 }), { url: `http://mixed.example.com:${port}/` })
    expect(error.errorType).not.toBe('permission')
    expect(tried).toContain('127.0.0.1')
    expect(inner.hits).toEqual([])
  })

  test('a name is looked up once per connection: there is no second answer to change', async () => {
    const answers = ['127.0.0.1', '169.254.169.254']
    let asked = 0
    const lookup: Lookup = async () => [{ address: answers[Math.min(asked++, 1)] ?? '', family: 4 }]
    const guard = publicOnly([`pinned.example.com:${port}`])
    const { data } = await run(webFetchTool({ lookup, guard }), { url: `http://pinned.example.com:${port}/`, ...RAW })
    expect(data['text']).toContain(SECRET)
    expect(asked).toBe(1)
    inner.hits.length = 0
  })

  test('the address that was connected to is checked once more', async () => {
    // A guard that misses addresses during lookup, as if the system had connected elsewhere.
    let asked = 0
    const guard: Guard = {
      url: () => undefined,
      address: (address) => (++asked > 1 ? publicOnly().address(address, 'late.example.com:80') : undefined),
    }
    const error = await refused(webFetchTool({ lookup: toHere, guard }), { url: `http://late.example.com:${port}/` })
    expect(error.errorType).toBe('permission')
    expect(inner.hits).toEqual([])
  })

  test('no answer at all is a host that does not exist', async () => {
    expect(await refused(webFetchTool({ lookup: async () => [] }), { url: 'http://nowhere.example.com/' })).toMatchObject({
      status: 'retry',
      errorType: 'not_found',
      details: { parameter: 'url' },
    })
  })
})

describe('redirects', async () => {
  const outer = await site({
    '/loopback': redirects(inner.url()),
    '/name': redirects(`http://rebind.example.com:${port}/`),
    '/decimal': redirects(`//2130706433:${port}/`),
    '/metadata': redirects('http://169.254.169.254/latest/meta-data/'),
    '/file': redirects('file:///etc/passwd'),
    '/login': redirects(`http://a:b@127.0.0.1:${port}/`),
    '/port': redirects('http://1.1.1.1:22/'),
    '/broken': redirects('http://['),
    '/loop': redirects('/loop'),
    '/hop': redirects('/there', 307),
    '/there': '<title>There</title><p>arrived</p>',
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`/n${n}`, redirects(n === 1 ? '/there' : `/n${n - 1}`)])),
  })
  const guard = publicOnly([outer.host])
  const tool = webFetchTool({ guard, lookup: toHere })

  test.each(['/loopback', '/name', '/decimal', '/metadata', '/file', '/login', '/port'])('%s is not followed', async (path) => {
    const error = await refused(tool, { url: outer.url(path) })
    expect(error).toMatchObject({ errorType: 'permission', status: 'failed' })
    expect(inner.hits).toEqual([])
  })

  test('control: without the guard the private page is reached through one', async () => {
    const { data } = await run(webFetchTool({ guard: open }), { url: outer.url('/loopback'), ...RAW })
    expect(data).toMatchObject({ url: inner.url() })
    expect(data['text']).toContain(SECRET)
    inner.hits.length = 0
  })

  test('to a place on the list it is followed, and the final URL is told', async () => {
    const { data, content } = await run(tool, { url: outer.url('/hop'), ...RAW })
    expect(data).toMatchObject({ url: outer.url('/there'), title: 'There' })
    expect(content).toContain(outer.url('/there'))
  })

  test('five are followed, six are not', async () => {
    expect((await run(tool, { url: outer.url('/n5'), ...RAW })).data['text']).toContain('arrived')
    expect((await refused(tool, { url: outer.url('/n6') })).message).toContain('more than 5 times')
    expect((await refused(tool, { url: outer.url('/loop') })).message).toContain('more than 5 times')
  })

  test('to what is no URL', async () => {
    expect(await refused(tool, { url: outer.url('/broken') })).toMatchObject({ status: 'failed', errorType: 'execution' })
  })

  test('nothing of one hop goes to the next', async () => {
    const second = await site({ '/': 'here' })
    const first = await site({
      '/': (_, response) => void response.writeHead(302, { location: second.url(), 'set-cookie': 'a=1; Path=/' }).end(),
    })
    const both = webFetchTool({ guard: publicOnly([first.host, second.host]) })
    await run(both, { url: first.url(), ...RAW })
    await run(both, { url: first.url(), ...RAW })
    for (const { headers } of [...first.requests, ...second.requests]) {
      expect(headers).not.toHaveProperty('referer')
      expect(headers).not.toHaveProperty('cookie')
      expect(headers).not.toHaveProperty('authorization')
      expect(headers['user-agent']).toMatch(/^mulligan\/\d/)
    }
  })
})

describe('the list of what is allowed', () => {
  test('is exact: another port, another spelling of the host are not on it', async () => {
    const tool = webFetchTool({ guard: publicOnly([inner.host]), lookup: toHere })
    expect((await run(tool, { url: inner.url(), ...RAW })).data['text']).toContain(SECRET)
    inner.hits.length = 0
    expect((await refused(tool, { url: 'http://127.0.0.1/' })).errorType).toBe('permission')
    expect((await refused(tool, { url: `http://localhost:${port}/` })).errorType).toBe('permission')
    expect(inner.hits).toEqual([])
  })

  test.each([
    '127.0.0.1',
    'http://127.0.0.1:80',
    '*:80',
    '127.0.0.1:80/path',
    'a b:80',
    'host:99999',
  ])('%j is refused when it is set', (entry) => {
    expect(() => publicOnly([entry])).toThrow(/allowPrivate takes host:port/)
  })

  test('proxy variables of the environment play no part', async () => {
    const proxy = await site({})
    const kept = { ...process.env }
    Object.assign(process.env, { HTTP_PROXY: proxy.url(), http_proxy: proxy.url(), ALL_PROXY: proxy.url(), NODE_USE_ENV_PROXY: '1' })
    try {
      await run(webFetchTool({ guard: publicOnly([inner.host]) }), { url: inner.url(), ...RAW })
    } finally {
      process.env = kept
    }
    expect(proxy.hits).toEqual([])
    inner.hits.length = 0
  })
})
