/** Runs a chat in this process with a real workspace, store and model over HTTP. What it shows is available as text. */
import { realpathSync } from 'node:fs'
import type { PromptImage } from '@mulligan/agent'
import { type ChoiceChanges, openWorkspace, readImages, type Workspace, withChanges } from '@mulligan/host/parts'
import type { ScriptedModel } from '@mulligan/testing'
import type { CliFixture } from '../../test/cli.fixture.ts'
import { mentionsIn } from '../mentions.ts'
import { ownCodeIn } from '../process.ts'
import { plain } from '../ui/colors.ts'
import { thoughtLine } from '../ui/events-to-lines.ts'
import { openChat } from './chat.ts'
import type { Chat, ChatState } from './chat-types.ts'
import { chatPorts } from './command.ts'
import type { Card, Item } from './view.ts'

export interface Talk extends AsyncDisposable {
  readonly chat: Chat
  readonly workspace: Workspace
  /** Waits until the output contains the text. */
  readonly until: (text: string | RegExp | ((state: ChatState) => boolean)) => Promise<string>
  /** Sends input and waits until nothing is running. */
  readonly send: (typed: string) => Promise<string>
  /** Returns everything that is shown. */
  readonly text: () => string
}

export interface TalkOptions extends ChoiceChanges {
  readonly session?: string | undefined
  readonly yes?: boolean
  readonly plain?: boolean
  readonly attached?: readonly PromptImage[]
  /** Replaces the workspace's changes to ignored files. */
  readonly ignored?: Workspace['ignored']
}

export async function talk(
  here: CliFixture,
  model: Pick<ScriptedModel, 'url'>,
  { session, yes = false, plain: isPlain = false, ignored, attached = [], ...flags }: TalkOptions = {},
): Promise<Talk> {
  const cwd = realpathSync(here.dir)
  // Commands shared with the shell look there.
  process.env['MULLIGAN_DATA_DIR'] = here.data
  const { ports, connect } = chatPorts(plain, () => undefined)
  const workspace = await openWorkspace({
    ...{ cwd, env: process.env, flags: withChanges({ model: 'scripted', baseUrl: model.url }, flags), session, yes },
    ...ports.ofWorkspace,
    aroundOwnCode: ownCodeIn(cwd),
  })
  const chat = await openChat({
    ...{ workspace: ignored ? { ...workspace, ignored } : workspace, connect, colors: plain, welcome: ['Welcome'], mentioned: mentionsIn },
    images: (paths, count) => readImages(cwd, paths, count),
    attached,
    plain: isPlain,
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
    await until(({ items, isWorking }) => !isWorking && items.length > before)
    return chat.state().items.slice(before).map(itemText).join('\n')
  }

  return {
    ...{ chat, workspace, until, send, text },
    [Symbol.asyncDispose]: async () => {
      chat.leave()
      await chat.left
      await chat.close()
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
      return cardText(item.card)
    case 'rows':
      return item.rows.map((row) => row.join('  ')).join('\n')
    default:
      return item.lines.join('\n')
  }
}

const cardText = ({ mark, head, repairs, earlier, display, more }: Card): string =>
  [
    `${mark} ${head}`,
    ...repairs,
    ...(earlier > 0 ? [`… ${earlier} earlier`] : []),
    ...(display === '' ? [] : [display]),
    ...(more > 0 ? [`… ${more} more`] : []),
  ].join('\n')
