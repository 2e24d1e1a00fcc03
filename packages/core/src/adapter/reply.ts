/** Reads one reply of the model: what to show of its text while it streams, and at its end the calls to make. */
import { announcements, askAgain, createReply, families, type ReplyCall, type Shown } from '@mulligan/repair'
import type { Tool } from '../tool.ts'
import type { AdapterOptions, TurnEvent } from './options.ts'

/** A call as the framework reports it. */
export interface FrameworkCall {
  /** The provider's id. */
  readonly id: string
  readonly name: string
  /** As text where the framework has it: it is repaired from what the model wrote. */
  readonly input: unknown
}

/** A call for the framework to make. One that was refused is made too; running it returns the refusal. */
export interface AdmittedCall {
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  readonly isRefused: boolean
  /** Index of the reported call that it comes from. Absent for a call found in the text. */
  readonly reported?: number
}

export interface FinishedFrameworkReply extends Shown {
  readonly calls: readonly AdmittedCall[]
  /** What to tell the model in a second request, because it may have meant a call. */
  readonly again?: string
}

export interface FrameworkReply {
  /** Forgets what was read: the same reply begins again, for example after a broken connection. */
  readonly restart: () => void
  /** Adds a piece of text. Returns what can be shown so far. */
  readonly text: (delta: string) => Shown
  /** Ends the text; another may follow. Returns what remains to be shown of it. */
  readonly endText: () => Shown
  /** Adds reasoning that the provider reported as such. */
  readonly reasoning: (delta: string) => void
  /** Ends the reply. `cutShort`: it ended before the model was done. */
  readonly end: (calls: readonly FrameworkCall[], ended?: { readonly cutShort?: boolean }) => Promise<FinishedFrameworkReply>
}

export interface ReplySettings {
  readonly options: AdapterOptions
  readonly tools: readonly Tool[]
  /** No call may be made: those in the reply are dropped. */
  readonly drops: boolean
  /** A call that was only announced counts as a possible one. */
  readonly announces: boolean
  /** A second request may be made, because of a possible call or an empty reply. */
  readonly mayAsk: { readonly unclear: boolean; readonly empty: boolean }
  readonly admit: (call: ReplyCall, ordinal: number) => Promise<AdmittedCall>
  readonly emit: (event: TurnEvent) => void
}

const EMPTY = '[Your last reply was empty. Continue: call a tool if one is needed, or else answer in words.]'

export function createFrameworkReply({ options, tools, drops, announces, mayAsk, admit, emit }: ReplySettings): FrameworkReply {
  const specs = tools.map((tool) => ({ ...tool, parameters: tool.check.strict }))
  const { families: markup = families, opensInReasoning = false } = options
  const open = () => createReply(specs, { families: markup, opensInReasoning, ...(announces && { announcements }) })
  let read = open()
  let lead = createLead()
  let isEmpty = true

  function shown(part: Shown, given = ''): Shown {
    const text = lead(part.text, given)
    isEmpty &&= text.trim() === ''
    return { text, reasoning: part.reasoning }
  }

  return {
    restart: () => {
      read = open()
      lead = createLead()
      isEmpty = true
    },
    text: (delta) => shown(read.text(delta), delta),
    endText: () => {
      const rest = shown(read.endText(''))
      lead = createLead()
      return rest
    },
    reasoning: (delta) => read.reasoning(delta),
    end: async (reported, { cutShort = false } = {}) => {
      const { calls: found, quoted, unclear, text, reasoning } = read.end(reported, { cutShort })
      const rest = shown({ text, reasoning })
      const calls: AdmittedCall[] = []
      for (const [ordinal, call] of drops ? [] : found.entries()) calls.push(await admit(call, ordinal))
      const asked = !drops && found.length === 0 && !cutShort
      const again = asked && unclear && mayAsk.unclear ? askAgain(quoted) : asked && isEmpty && mayAsk.empty ? EMPTY : undefined
      if (quoted.length > 0) emit({ type: 'message.quoted', quoted, asked: again !== undefined })
      return { ...rest, calls, ...(again !== undefined && { again }) }
    },
  }
}

/** A reply trims white space at the beginning of a text, because text after markup begins with it. Restores it for other texts. */
function createLead(): (text: string, given: string) => string {
  let given: string | undefined = ''
  return (text, more) => {
    if (given === undefined) return text
    given += more
    if (text === '') return text
    const trimmed = given.trimStart()
    const lead = trimmed.startsWith(text) ? given.slice(0, given.length - trimmed.length) : ''
    given = undefined
    return lead + text
  }
}
