/** Builds the messages of the chat: the text, what is named in it, its images, and the output of the user's own commands since the last one. */
import type { RunOptions, Steer } from '@mulligan/agent'
import { promptCommandNamed, promptCommands, promptFor } from '@mulligan/host/parts'
import { resourceServers } from '../commands/mcp/status-text.ts'
import { resourcesIn } from '../mentions.ts'
import { type OwnRun, promptOf } from './chat-input.ts'
import type { ChatOptions } from './chat-types.ts'
import { isBuiltIn } from './commands/table.ts'

type Built = Required<Pick<RunOptions, 'prompt' | 'mentions' | 'images' | 'attached' | 'untrusted'>>

/** The message of a command: its text may be somebody else's, and then names no files. */
interface CommandMessage {
  readonly text: string
  readonly mentions: readonly string[]
  readonly untrusted: boolean
}

/** @param tell shows why an image is not sent */
export function createMessages(options: ChatOptions, tell: (text: string) => void) {
  const { cwd, servers, mcp } = options.workspace
  /** Commands that the user ran in their own shell since the last message. */
  let ownRuns: readonly OwnRun[] = []
  let waiting = options.attached ?? []

  function imagesIn(mentions: readonly string[]): Built['images'] {
    const attached = waiting
    const { images, problems } = options.images(mentions, attached.length)
    waiting = []
    for (const problem of problems) tell(problem)
    return [...attached, ...images]
  }

  const resources = (text: string) => resourcesIn(text, resourceServers(servers()))

  return {
    /** Adds a command to the next message. */
    ran: (run: OwnRun): void => {
      ownRuns = [...ownRuns, run]
    },
    /** Forgets the commands. */
    forget: (): void => {
      ownRuns = []
    },
    /** @param mentions files that the user named; those in the text of a project's command don't count */
    message: (text: string, mentions: readonly string[], untrusted: boolean): Built => {
      const prompt = promptOf(text, ownRuns, mentions, untrusted ? [] : resources(text))
      const attached = ownRuns.length > 0
      ownRuns = []
      return { prompt, mentions, images: imagesIn(mentions), attached, untrusted }
    },
    /** Returns what makes the message of a command of a file or an MCP server; undefined if there is none of this name. */
    ofCommand: async (name: string): Promise<((args: string, signal: AbortSignal) => Promise<CommandMessage>) | undefined> => {
      if (isBuiltIn(name)) return undefined
      const own = promptCommandNamed((await promptCommands(cwd, process.env)).commands, name)
      if (own) return async (args) => ({ text: promptFor(own, args), mentions: options.mentioned(args), untrusted: own.untrusted === true })
      const prompt = mcp.prompts().find((one) => one.command === name)
      return prompt && (async (args, signal) => ({ ...(await mcp.prompt(prompt, args, signal)), mentions: [] }))
    },
    /** Returns what joins a running turn. */
    steers: (text: string): readonly Steer[] => {
      if (text === '') return []
      const mentions = options.mentioned(text)
      return [{ text: promptOf(text, [], mentions, resources(text)), mentions, images: imagesIn(mentions) }]
    },
  }
}
