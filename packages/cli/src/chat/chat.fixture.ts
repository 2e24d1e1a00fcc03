/** A chat in this process: with a real workbench, store and model over HTTP, and what it shows as text. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@mulligan/agent'
import type { ScriptedModel } from '@mulligan/testing'
import type { Place } from '../fixtures/cli.ts'
import type { DataPaths } from '../paths.ts'
import { plain } from '../ui/colors.ts'
import { thoughtLine } from '../ui/events-to-lines.ts'
import { openWorkbench, type Workbench } from '../workbench.ts'
import { openChat } from './chat.ts'
import type { Chat, ChatState } from './chat-types.ts'
import { type ChoiceFlags, choose } from './choice.ts'
import { mentionsIn } from './input/mentions.ts'
import type { Item } from './view.ts'

export interface Talk extends AsyncDisposable {
  readonly chat: Chat
  /** Waits until what is shown holds the text. */
  readonly until: (text: string | RegExp | ((state: ChatState) => boolean)) => Promise<string>
  /** Sends it and waits until nothing runs any more. */
  readonly send: (typed: string) => Promise<string>
  /** All that is shown. */
  readonly text: () => string
}

export interface TalkOptions extends ChoiceFlags {
  readonly session?: string
  readonly yes?: boolean
  /** Changes to ignored files, in place of the workbench's. */
  readonly ignored?: Workbench['ignored']
}

export async function talk(
  here: Place,
  model: Pick<ScriptedModel, 'url'>,
  { session, yes = false, ignored, ...flags }: TalkOptions = {},
): Promise<Talk> {
  const cwd = realpathSync(here.dir)
  const dir = here.data
  const data: DataPaths = {
    ...{ dir, store: join(dir, 'mulligan.db'), log: join(dir, 'mulligan.log'), output: join(dir, 'output') },
    ...{ state: join(dir, 'state'), changes: join(dir, 'changes') },
  }
  // The commands that it shares with the shell look there.
  process.env['MULLIGAN_DATA_DIR'] = dir
  const store = await openStore(data.store)
  const choice = await choose(cwd, { model: 'scripted', baseUrl: model.url, ...flags }, { store, session })
  const closed = new AbortController().signal
  const chat = await openChat({
    ...{ cwd, data, store, choice, session, yes, agentsMd: true, colors: plain, welcome: ['Welcome'], mentioned: mentionsIn },
    choose: (next, id, before) => choose(cwd, next, { store, session: id, ...(before && { before }) }),
    openBench: async ({ ask, tell, onEvent, onSandbox }) => {
      const bench = await openWorkbench({
        ...{ cwd, settings: choice.settings, data, store, session, colors: plain, ask, onEvent },
        output: { out: tell, err: tell, closed, flush: async () => undefined },
        onSandbox: ({ backend }) => onSandbox(backend),
      })
      return { ...bench, ...(ignored && { ignored }) }
    },
  })
  const text = (): string => chat.state().items.map(itemText).join('\n')

  function until(wanted: string | RegExp | ((state: ChatState) => boolean)): Promise<string> {
    const holds = (): boolean =>
      typeof wanted === 'function' ? wanted(chat.state()) : typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => done(() => reject(new Error(`It never showed ${wanted}:\n${text()}`))), 15_000)
      const done = (settle: () => void): void => {
        clearTimeout(timer)
        stop()
        settle()
      }
      const look = (): void => {
        if (holds()) done(() => resolve(text()))
      }
      const stop = chat.subscribe(look)
      look()
    })
  }

  async function send(typed: string): Promise<string> {
    const before = chat.state().items.length
    chat.submit(typed)
    await until(({ items, busy }) => busy === undefined && items.length > before)
    return chat.state().items.slice(before).map(itemText).join('\n')
  }

  return {
    ...{ chat, until, send, text },
    [Symbol.asyncDispose]: async () => {
      chat.leave()
      await chat.left
      await chat.close()
      await store.close()
    },
  }
}

export function itemText(item: Item): string {
  switch (item.kind) {
    case 'user':
      return [`> ${item.text}`, ...(item.notes ?? []).map((note) => `  (${note})`)].join('\n')
    case 'answer':
      return item.text
    case 'thinking':
      return thoughtLine(item.characters, plain)
    case 'call':
      return [`${item.card.mark} ${item.card.head}`, ...item.card.repairs, ...(item.card.display === '' ? [] : [item.card.display])].join(
        '\n',
      )
    case 'rows':
      return item.rows.map((row) => row.join('  ')).join('\n')
    default:
      return item.lines.join('\n')
  }
}
