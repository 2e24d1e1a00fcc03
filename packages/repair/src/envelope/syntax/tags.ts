/** Helpers shared by all tag grammars: white space, names and values between tags. */
import { isRecord } from '../../schema/validate.ts'
import { matchEnd, past } from '../../text.ts'
import type { Block, MarkupCall, TextEntry, ToolIndex } from '../family.ts'

const BLANK = /(?:\s|\\[nrt])*/y

/**
 * Returns the end of the white space at `at`, including white space that a server escaped to `
 * `.
 */
export const blankEnd = (text: string, at: number): number => past(BLANK, text, at)

export const isBlank = (text: string, from: number, to: number): boolean => blankEnd(text, from) >= to

/** A possible name of a tool or parameter, as opposed to prose. */
const NAME = /^[\p{L}_$][^\s<>{}[\]()"'`,;=|\\]{0,127}$/u

export const isName = (text: string): boolean => NAME.test(text)

/** Returns the parameters that a tool declares; undefined if the tool is unknown or declares none. */
export function parametersOf(name: string, tools: ToolIndex): ReadonlySet<string> | undefined {
  const properties = tools.resolve(name)?.parameters?.['properties']
  return isRecord(properties) ? new Set(Object.keys(properties)) : undefined
}

const PARTIAL = /<\/?[\p{L}_:｜|]*$/uy

/** Returns whether the text ends at `at` or in a partial tag there. */
export const endsAt = (text: string, at: number): boolean => at >= text.length || (text[at] === '<' && matchEnd(PARTIAL, text, at) >= 0)

/** Returns whether the text ends at `at` or in a partial closing tag there, so that everything before is complete. */
export const endsClosedAt = (text: string, at: number): boolean => at >= text.length || (text.startsWith('</', at) && endsAt(text, at))

/** A call and its end. */
export interface CallRead {
  readonly call: MarkupCall
  readonly end: number
  /** Whether its own closing tag was present. */
  readonly closed: boolean
}

/** Collects the parts of a call while it is read. */
export class Draft {
  readonly #entries = new Map<string, TextEntry>()
  readonly #damage = new Set<string>()
  #unsure = false
  readonly name: string

  /** The key whose value, if it is the only one, may be a JSON object with all arguments. */
  readonly #whole: string | undefined

  constructor(name: string, whole?: string) {
    this.name = name
    this.#whole = whole
  }

  get size(): number {
    return this.#entries.size
  }

  /** Adds a value. A repeated key replaces the earlier value. */
  add(entry: TextEntry): void {
    const before = this.#entries.get(entry.key)
    if (before && before.text !== entry.text) this.doubted(`the parameter ${entry.key} came twice with different values`)
    this.#entries.set(entry.key, entry)
  }

  /** Appends text to a parameter that was already added. */
  extend(key: string, text: string): void {
    const entry = this.#entries.get(key)
    if (entry) this.#entries.set(key, { ...entry, text })
  }

  damaged(what: string | undefined): void {
    if (what) this.#damage.add(what)
  }

  /** Records damage that leaves the boundaries of a value uncertain. */
  doubted(what: string | undefined): void {
    if (what) this.#unsure = true
    this.damaged(what)
  }

  /** Finishes a call that the text ended in. Its content is used only in the message to the model. */
  cutOff(text: string): CallRead {
    return { call: { ...this.#call(), cutOff: true }, end: text.length, closed: false }
  }

  done(end: number, closed: boolean): CallRead {
    if (!closed) this.damaged('the closing tag of the call was missing')
    return { call: this.#call(), end, closed }
  }

  /** Finishes a call with nothing callable in its markup. The text is passed on to be refused. */
  unreadable(markup: string, end: number): CallRead {
    const damage = 'a parameter had no key or no value'
    return { call: { name: this.name, arguments: { kind: 'unread', text: markup }, damage }, end, closed: false }
  }

  #call(): MarkupCall {
    const entries = [...this.#entries.values()]
    const [only] = entries
    const { name } = this
    const damage = this.#damage.size > 0 && { damage: [...this.#damage].join('; '), ...(this.#unsure && { unsure: true as const }) }
    if (entries.length === 1 && only && this.#whole === only.key && /^\s*\{/.test(only.text))
      return { name, arguments: { kind: 'json', text: only.text }, ...damage }
    return { name, arguments: { kind: 'texts', entries }, ...damage }
  }
}

/** Returns the call with one more fault, listed first. */
export function withDamage(read: CallRead, what: string): CallRead {
  return { ...read, call: { ...read.call, damage: read.call.damage ? `${what}; ${read.call.damage}` : what } }
}

/** Builds a block from the calls read. Returns undefined if there are none. */
export function blockOf(calls: readonly CallRead[], end: number, complete: boolean): Block | undefined {
  return calls.length === 0 ? undefined : { end, calls: calls.map((one) => one.call), complete }
}
