/**
 * LangGraph's agent with its SQLite checkpointer. The checkpointer runs on Node's own SQLite, because `better-sqlite3` would have to be
 * compiled, and the two have a similar cost with the same durability: `better-sqlite3` does not wait for the disk in WAL mode.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { z } from 'zod'
import type { OpenPeer } from './peer.ts'

class Scripted extends BaseChatModel {
  private step = 0
  private readonly steps: number
  private readonly onRequest: () => void
  constructor(steps: number, onRequest: () => void) {
    super({})
    this.steps = steps
    this.onRequest = onRequest
  }
  _llmType(): string {
    return 'scripted'
  }
  override bindTools() {
    return this
  }
  async _generate() {
    this.onRequest()
    this.step++
    const call = { id: `id-${this.step}`, name: 'look', args: { path: `src/${this.step}.ts` }, type: 'tool_call' as const }
    const message = this.step < this.steps ? new AIMessage({ content: '', tool_calls: [call] }) : new AIMessage('Done.')
    return { generations: [{ text: '', message }] }
  }
}

const look = tool(({ path }: { path: string }) => path, {
  name: 'look',
  description: 'Does nothing.',
  schema: z.object({ path: z.string() }) as never,
})

/** The part of `better-sqlite3` that the checkpointer uses. */
function database(file: string): never {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA synchronous = NORMAL')
  const transaction =
    <Args extends unknown[]>(work: (...args: Args) => void) =>
    (...args: Args): void => {
      db.exec('BEGIN')
      work(...args)
      db.exec('COMMIT')
    }
  const pragma = (text: string): void => db.exec(`PRAGMA ${text}`)
  const nulls = (values: readonly SQLInputValue[]) => values.map((value) => value ?? null)
  const prepare = (sql: string) => {
    const statement = db.prepare(sql)
    return {
      get: (...values: SQLInputValue[]) => statement.get(...nulls(values)),
      all: (...values: SQLInputValue[]) => statement.all(...nulls(values)),
      run: (...values: SQLInputValue[]) => statement.run(...nulls(values)),
    }
  }
  return { prepare, exec: (sql: string) => db.exec(sql), pragma, transaction } as never
}

export const open: OpenPeer = (file) => {
  const saver = new SqliteSaver(database(file))
  let turn = 0
  return async (steps, onRequest) => {
    const agent = createReactAgent({ llm: new Scripted(steps, onRequest), tools: [look as never], checkpointer: saver })
    const config = { configurable: { thread_id: `t${turn++}` }, recursionLimit: 2 * steps + 5 }
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Look at the files.' }] }, config)
    return messages.filter((message) => message.getType() === 'ai').length
  }
}
