import { conformance } from '@mulligan/testing'
import { describe, expect, test } from 'vitest'
import { webTools } from './index.ts'
import { sends, site } from './server.fixture.ts'

const TOKENS = 400

const tools = webTools()

describe('the set', () => {
  test('has two tools, that read and are not trusted', () => {
    expect(tools.map(({ name, effect, untrusted }) => [name, effect, untrusted])).toEqual([
      ['web_fetch', 'read', true],
      ['web_search', 'read', true],
    ])
  })

  test(`costs at most ${TOKENS} tokens with schemas and descriptions`, () => {
    const text = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, parameters: inputSchema })).join('')
    expect(Math.ceil(text.length / 4)).toBeLessThanOrEqual(TOKENS)
  })

  test('every parameter has a description, and no two tools share a name', () => {
    for (const tool of tools)
      for (const [name, schema] of Object.entries(tool.inputSchema['properties'] as object))
        expect(schema, `${tool.name}.${name}`).toHaveProperty('description')
    const names = tools.flatMap((tool) => [tool.name, ...tool.aliases.map((alias) => alias.name)])
    expect(new Set(names).size).toBe(names.length)
  })

  test('nothing heavy is loaded before the first call', async () => {
    const { execFileSync } = await import('node:child_process')
    const script = `
      import { registerHooks } from 'node:module'
      const seen = []
      registerHooks({ resolve: (name, context, next) => {
        seen.push(name)
        return next(name === '@mulligan/core' ? ${JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)}
          : name === '@mulligan/core/executor' ? ${JSON.stringify(new URL('../../../core/src/executor.ts', import.meta.url).href)}
          : name === '@mulligan/repair' ? ${JSON.stringify(new URL('../../../repair/src/index.ts', import.meta.url).href)} : name, context)
      } })
      const { webTools } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      webTools()
      console.log(JSON.stringify(seen.filter((name) => /undici|linkedom|readability|turndown/.test(name))))`
    expect(execFileSync(process.execPath, ['--input-type=module', '--eval', script]).toString().trim()).toBe('[]')
  })
})

test('both keep the contract', async () => {
  const server = await site({
    '/': '<title>Hi</title><p>hello</p>',
    '/search': sends(JSON.stringify({ results: [{ title: 'a', url: 'https://a.example/', content: 'x' }] }), {
      'content-type': 'application/json',
    }),
  })
  const report = await conformance(() =>
    webTools({ allowPrivate: [server.host], search: { searxng: { url: server.url() } } }).map((tool) => ({
      ...tool,
      // Replace the example pages by pages on this machine.
      examples: tool.examples.map(({ input, ...one }) => ({
        ...one,
        input: 'url' in input ? { ...input, url: String(input['url']).replace(/s?:\/\/example\.com/, `://${server.host}`) } : input,
      })),
    })),
  )
  expect(report.tools.flatMap(({ tool, checks }) => checks.filter(({ outcome }) => outcome === 'fail').map((one) => [tool, one]))).toEqual(
    [],
  )
  expect(report.conforms).toBe(true)
})
