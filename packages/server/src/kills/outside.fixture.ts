/** What is outside of the server that is killed: a model, and a ledger of what was done. Each counts what reaches it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { changeTrust, folderTools } from '@mulligan/host/parts'
import { calls, type ScriptedModel, say, scriptedModel } from '@mulligan/testing'

/** A place in an effect: it has not happened yet, or it has, and its server does not know. */
export type EffectPoint = 'before' | 'after'

export interface Outside extends AsyncDisposable {
  readonly model: ScriptedModel
  readonly ledgerUrl: string
  /** How often each call has reached the ledger, by its id. */
  readonly done: ReadonlyMap<string, number>
  /** How often each reply was requested: `TURN STEP`. */
  readonly asked: ReadonlyMap<string, number>
  /** Writes the tools into a folder, and trusts them. */
  readonly equip: (folder: string, home: string) => Promise<void>
  /** Called at each point of each write. What it returns is awaited. */
  onEffect: (point: EffectPoint, callId: string) => void | Promise<void>
}

/** Reads, writes, one that a person is asked about, and an answer. The replies depend only on the conversation. */
const STEPS = [
  calls(['look', { text: 'a' }], ['look', { text: 'b' }], ['append', { text: 'one' }]),
  calls(['post', { text: 'two' }]),
  calls(['append', { text: 'three' }]),
  say('Done.'),
]
export const CALLS = 5
export const WRITES = 3
/** Points of the effects of a turn: before and after each write. */
export const EFFECT_POINTS = 2 * WRITES

const toolsAt = (url: string): string => `
import { defineTool } from '@mulligan/core'
import { z } from 'zod'
const tool = (name, effect) => defineTool({
  name, effect, description: name + 's something', input: z.object({ text: z.string() }), target: ({ text }) => text, retries: 1,
  execute: async ({ text }, { callId, signal }) => {
    const response = await fetch('${url}', { method: 'POST', body: JSON.stringify({ callId, effect, text }), signal })
    return { said: await response.text() }
  },
})
export default [tool('look', 'read'), tool('append', 'write'), tool('post', 'external')]
`

export const promptOf = (sessionId: string): string => `turn ${sessionId} please`
/** The prompt of a second turn. */
export const AGAIN = 'once again'

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

export async function outside(): Promise<Outside> {
  const done = new Map<string, number>()
  const asked = new Map<string, number>()
  const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)
  const model = await scriptedModel(({ body }) => {
    const { messages } = body as ChatBody
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content))
    if (users.at(-1)?.includes('again')) return say('Again.')
    const step = messages.filter(({ role }) => role === 'assistant').length
    const [, name = ''] = /turn (\S+) please/.exec(users[0] ?? '') ?? []
    count(asked, `${name} ${step + 1}`)
    return STEPS[step]
  })
  const ledger = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    request.on('end', async () => {
      const { callId, effect } = JSON.parse(text) as { readonly callId: string; readonly effect: string }
      if (effect !== 'read') await here.onEffect('before', callId)
      // A process that is dead can't take back what it has sent.
      count(done, callId)
      if (effect !== 'read') await here.onEffect('after', callId)
      response.end('noted')
    })
  })
  // A connection that is closed while idle would fail the next write.
  ledger.keepAliveTimeout = 0
  await new Promise<void>((resolve) => ledger.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(ledger.address() as AddressInfo).port}/`
  const here: Outside = {
    ...{ model, done, asked, ledgerUrl: url },
    onEffect: () => undefined,
    equip: async (folder, home) => {
      const tools = join(folder, '.mulligan', 'tools')
      mkdirSync(tools, { recursive: true })
      writeFileSync(join(tools, 'outside.mjs'), toolsAt(url))
      const env = { HOME: home }
      const { hash } = folderTools(folder, env).found
      await changeTrust(folder, (folders) => ({ ...folders, [folder]: { tools: hash, settings: [] } }), env)
    },
    [Symbol.asyncDispose]: async () => {
      await model.close()
      ledger.closeAllConnections()
      await new Promise((resolve) => ledger.close(resolve))
    },
  }
  return here
}
