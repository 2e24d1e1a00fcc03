/** MCP servers in a chat: prompts, resources, tools that come and go, progress, and stopping a call. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, type Script, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'
import { describe, expect, it, vi } from 'vitest'
import { type CliFixture, place, trusted } from '../../test/cli.fixture.ts'
import { type Talk, type TalkOptions, talk } from './chat.fixture.ts'
import { completerFor } from './complete.ts'

const FIXTURE = fileURLToPath(new URL('../../../mcp/src/use/server.fixture.ts', import.meta.url))
const EVERYTHING = createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/server-everything/package.json')
  .replace('package.json', 'dist/index.js')
const URI = 'demo://resource/static/document/features.md'

async function scene(script: Script, options: TalkOptions = {}, names: readonly string[] = ['everything', 'notes']) {
  const here = trusted(place())
  const mcpServers = {
    everything: { command: process.execPath, args: [EVERYTHING] },
    notes: { command: process.execPath, args: [FIXTURE, join(here.dir, 'log.txt')] },
  }
  const chosen = Object.fromEntries(Object.entries(mcpServers).filter(([name]) => names.includes(name)))
  here.write('../.config/mulligan/config.json', JSON.stringify({ mcpServers: chosen }))
  process.env['HOME'] = here.root
  const model = await scriptedModel(script)
  const chat = await talk(here, model, { mode: 'auto', ...options })
  return {
    ...{ here, model, chat },
    [Symbol.asyncDispose]: async () => {
      await chat[Symbol.asyncDispose]()
      await model[Symbol.asyncDispose]()
      here[Symbol.dispose]()
    },
  }
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

const bodies = (model: { readonly requests: readonly { readonly body: unknown }[] }): readonly Body[] =>
  model.requests.map(({ body }) => body as Body)
const lastPrompt = (model: Parameters<typeof bodies>[0]): string =>
  String(
    bodies(model)
      .at(-1)
      ?.messages.findLast(({ role }) => role === 'user')?.content,
  )
const log = (here: CliFixture): string => (here.has('log.txt') ? here.read('log.txt') : '')

/** Sends a message that makes the model send a text. @returns whether a person was asked */
async function isAsked({ chat, model }: { chat: Talk; model: Pick<ScriptedModel, 'push'> }): Promise<boolean> {
  model.push(call('send', { text: 'hello' }), say('Sent.'))
  chat.chat.submit('send it')
  await chat.until(({ question }) => question !== undefined || chat.text().includes('Sent.'))
  const asked = chat.chat.state().question !== undefined
  if (asked) chat.chat.answer('n')
  await chat.until(({ busy }) => busy === undefined)
  return asked
}

describe('a prompt of a server', () => {
  it('is a command, and what it says is untrusted content', async () => {
    await using set = await scene([say('Sunny.')], { yes: true })
    expect(await set.chat.send('/mcp__everything__args-prompt Paris')).toContain('Sunny.')
    expect(lastPrompt(set.model)).toContain("What's weather in Paris?")
    expect(await isAsked(set)).toBe(true)
  }, 60_000)

  it('does not count as the person’s message: without it, nobody is asked', async () => {
    await using set = await scene([say('Sunny.')], { yes: true })
    await set.chat.send('What is the weather in Paris?')
    expect(await isAsked(set)).toBe(false)
  }, 60_000)

  it('says what is missing, is in the help, and is completed', async () => {
    await using set = await scene([])
    expect(await set.chat.send('/mcp__everything__args-prompt')).toContain('CITY [STATE]: city is missing')
    expect(await set.chat.send('/help')).toContain('/mcp__everything__args-prompt CITY [STATE]')
    expect(await set.chat.send('/mcp')).toMatch(/✓ everything: \d+ tools, 4 prompts, resources/)
  }, 60_000)
})

it('a resource that is mentioned is named to the model, and completed', async () => {
  await using set = await scene([say('Read.')])
  await set.chat.send(`see @everything:${URI}, and @nobody:x`)
  expect(lastPrompt(set.model)).toContain(`\n\n(MCP resources named here, for read_mcp_resource: everything ${URI})`)
  expect(set.chat.text()).toContain(`(names everything ${URI})`)
  const complete = await completerFor(set.chat.chat, set.chat.workspace.sessions, set.here.dir, set.chat.workspace)
  const inserted = async (text: string) =>
    (await complete(text, text.length, AbortSignal.timeout(20_000)))?.items.map(({ insert }) => insert) ?? []
  expect(await inserted('see @every')).toContain('@everything:')
  expect(await inserted('see @everything:feat')).toContain(`@everything:${URI} `)
  expect(await inserted('/mcp__every')).toContain('/mcp__everything__args-prompt ')
}, 60_000)

it('tools that come are there from the next turn on; within a turn the request only grows', async () => {
  await using set = await scene([call('more', {}), say('More.'), say('Next.')], { yes: true }, ['notes'])
  await set.chat.send('more')
  await vi.waitFor(() => expect(set.chat.workspace.tools.some(({ name }) => name === 'added')).toBe(true), 10_000)
  await set.chat.send('next')
  const names = bodies(set.model).map(({ tools = [] }) => tools.map((tool) => tool.function.name))
  const [first, second, third] = bodies(set.model)
  expect(JSON.stringify(second?.tools)).toBe(JSON.stringify(first?.tools))
  expect(JSON.stringify(second?.messages).startsWith(JSON.stringify(first?.messages).slice(0, -1))).toBe(true)
  expect([names.map((all) => all.includes('added')), third?.tools?.length]).toEqual([[false, false, true], (first?.tools?.length ?? 0) + 1])
}, 60_000)

it('progress of a call is shown, and stopping it tells the server', async () => {
  await using set = await scene([call('send', { text: 'hang' })], { yes: true })
  set.chat.chat.submit('hang')
  await set.chat.until(({ view }) => JSON.stringify(view.calls).includes('1 of 4'))
  set.chat.chat.interrupt()
  await set.chat.until(({ busy }) => busy === undefined)
  expect(set.chat.text()).toMatch(/unknown|may have taken effect/)
  await vi.waitFor(() => expect(log(set.here)).toContain('cancelled'), 10_000)
}, 60_000)
