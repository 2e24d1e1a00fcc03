import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { context, refused, run } from '../../workspace.fixture.ts'
import { type Handler, sends, site, wire } from '../server.fixture.ts'
import type { SearchOptions } from './providers.ts'
import { webSearchTool } from './tool.ts'

const KEY = 'kanarie-4711'
const json = (value: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Handler =>
  sends(JSON.stringify(value), { 'content-type': 'application/json', ...headers }, status)

const ROWS = [
  { title: 'The <strong>first</strong> &amp; best', url: 'https://one.example/a(b)', text: 'About <strong>x</strong>,\n and   y.' },
  { title: '', url: 'https://two.example/', text: '' },
  { title: 'no page', url: 'javascript:alert(1)', text: 'x' },
]

async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** Each service's protocol, as strict as the original about keys. */
const SERVICES = {
  brave: {
    path: '/res/v1/web/search',
    options: (url: string): SearchOptions => ({ brave: { key: KEY, url } }),
    setting: 'BRAVE_API_KEY',
    answer: (rows: typeof ROWS) => ({
      type: 'search',
      query: {},
      ...(rows.length > 0 && { web: { type: 'search', results: rows.map(({ title, url, text }) => ({ title, url, description: text })) } }),
    }),
    check: async (request: IncomingMessage) => {
      expect(request.headers['x-subscription-token']).toBe(KEY)
      const asked = new URL(request.url ?? '', 'http://x').searchParams
      expect([asked.get('q'), asked.get('count')]).toEqual(['cats & dogs', '3'])
    },
  },
  tavily: {
    path: '/search',
    options: (url: string): SearchOptions => ({ tavily: { key: KEY, url } }),
    setting: 'TAVILY_API_KEY',
    answer: (rows: typeof ROWS) => ({ query: 'q', results: rows.map(({ title, url, text }) => ({ title, url, content: text, score: 1 })) }),
    check: async (request: IncomingMessage) => {
      expect([request.method, request.headers.authorization]).toEqual(['POST', `Bearer ${KEY}`])
      expect(JSON.parse(await body(request))).toEqual({ query: 'cats & dogs', max_results: 3 })
    },
  },
  searxng: {
    path: '/sub/search',
    options: (url: string): SearchOptions => ({ searxng: { url: `${url}sub/` } }),
    setting: 'SEARXNG_URL',
    answer: (rows: typeof ROWS) => ({ query: 'q', results: rows.map(({ title, url, text }) => ({ title, url, content: text })) }),
    check: async (request: IncomingMessage) => {
      const asked = new URL(request.url ?? '', 'http://x').searchParams
      expect([asked.get('q'), asked.get('format')]).toEqual(['cats & dogs', 'json'])
    },
  },
} as const

describe.each(Object.entries(SERVICES))('%s', (_, { path, options, answer, check, setting }) => {
  const with_ = async (handler: Handler) => webSearchTool(options((await site({ [path]: handler })).url()))

  test('gives titles, URLs and snippets as plain text', async () => {
    const failures: unknown[] = []
    const tool = await with_((request, response) => {
      check(request).then(
        () => json(answer(ROWS))(request, response),
        (error) => {
          failures.push(error)
          response.writeHead(400).end()
        },
      )
    })
    const result = await run(tool, { query: ' cats &  dogs', limit: 3 }).catch((error: unknown) => {
      throw failures[0] ?? error
    })
    expect(result.data['results']).toEqual([
      { title: 'The first & best', url: 'https://one.example/a(b)', snippet: 'About x, and y.' },
      { title: 'two.example', url: 'https://two.example/', snippet: '' },
    ])
    expect(result).toMatchObject({ count: 2 })
    expect(result.content).toContain('untrusted content of the web')
    expect(result.display).toContain('- [The first & best](https://one.example/a%28b%29): About x, and y.')
  })

  test('no more than the limit', async () => {
    const tool = await with_(json(answer(ROWS)))
    expect((await run(tool, { query: 'x', limit: 1 })).data['results']).toHaveLength(1)
  })

  test('nothing found is ok, count 0', async () => {
    expect(await run(await with_(json(answer([]))), { query: 'x' })).toMatchObject({ count: 0, data: { results: [] } })
  })

  test.each([401, 403])('%i is the setting, and the key stays unsaid', async (status) => {
    const error = await refused(await with_(json({ error: `bad key ${KEY}` }, status)), { query: 'x' })
    expect(error).toMatchObject({ status: 'failed', errorType: 'config' })
    expect(error.message).toContain(setting)
    expect(JSON.stringify([error.message, error.details, error.display])).not.toContain(KEY)
  })

  test('429 and 5xx may pass', async () => {
    expect(await refused(await with_(json({}, 429, { 'retry-after': '3' })), { query: 'x' })).toMatchObject({
      status: 'unavailable',
      errorType: 'rate_limited',
      retryAfter: 3,
    })
    expect(await refused(await with_(json({}, 502)), { query: 'x' })).toMatchObject({ status: 'unavailable', errorType: 'network' })
  })

  test.each([
    '{"resul',
    '<html>captcha</html>',
    '[]',
    'null',
    '{}',
    '{"results": 5}',
    '{"type":"search","web":{"results":"x"}}',
  ])('an answer of %s is a failure', async (text) => {
    const error = await refused(await with_(sends(text)), { query: 'x' })
    expect(error).toMatchObject({ status: 'failed', errorType: 'execution' })
  })

  test('a redirect is not followed: the key would go along', async () => {
    const other = await site({})
    const error = await refused(await with_(sends('', { location: other.url() }, 302)), { query: 'x' })
    expect([error.errorType, other.hits]).toEqual(['config', []])
  })
})

describe('whichever it is', () => {
  test('none configured: how to', async () => {
    const error = await refused(webSearchTool(), { query: 'x' })
    expect(error).toMatchObject({ status: 'failed', errorType: 'config' })
    for (const setting of ['BRAVE_API_KEY', 'TAVILY_API_KEY', 'SEARXNG_URL']) expect(error.message).toContain(setting)
  })

  test("one's own comes before a company's", async () => {
    const own = await site({ '/search': json({ results: [] }) })
    const tool = webSearchTool({ brave: { key: KEY, url: 'http://127.0.0.1:9' }, searxng: { url: own.url() } })
    expect((await run(tool, { query: 'x' })).data['provider']).toBe('SearXNG')
  })

  test.each([
    ['a key that no header can hold', { brave: { key: `${KEY}\nx` } }, 'BRAVE_API_KEY'],
    ['a URL that is none', { searxng: { url: 'searx' } }, 'SEARXNG_URL'],
    ['a URL of another kind', { searxng: { url: 'file:///etc' } }, 'SEARXNG_URL'],
  ] as const)('%s is the setting', async (_, options, setting) => {
    const error = await refused(webSearchTool(options), { query: 'x' })
    expect(error).toMatchObject({ errorType: 'config', status: 'failed' })
    expect(error.message).toContain(setting)
    expect(error.message).not.toContain(KEY)
  })

  test('a service that is not there may come back; one that says nothing is stopped', async () => {
    expect(await refused(webSearchTool({ searxng: { url: 'http://127.0.0.1:9' } }), { query: 'x' })).toMatchObject({ errorType: 'network' })
    const silent = await wire(() => undefined)
    const stop = new AbortController()
    const running = run(webSearchTool({ searxng: { url: silent.url() } }), { query: 'x' }, context(stop.signal))
    setTimeout(() => stop.abort(new Error('stopped')), 50)
    await expect(running).rejects.toThrow('stopped')
  })

  test('a query without words is a retry', async () => {
    expect(await refused(webSearchTool(), { query: ' \n' })).toMatchObject({ status: 'retry', details: { parameter: 'query' } })
  })
})
