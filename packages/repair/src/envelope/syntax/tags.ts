/** What all grammars of tags have in common: white space, names, values as they stand between tags. */
import { isRecord } from '../../schema/validate.ts'
import type { Block, MarkupCall, TextEntry, ToolIndex } from '../family.ts'

/** A regular expression with the flag `y`, at one place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(text) ?? undefined
}

const BLANK = /(?:\s|\\[nrt])*/y

/** The end of the white space at `at`, also where a server has escaped it to `\n`. */
export const blankEnd = (text: string, at: number): number => at + (matchAt(BLANK, text, at)?.[0].length ?? 0)

export const isBlank = (text: string, from: number, to: number): boolean => blankEnd(text, from) >= to

/** What may be the name of a tool or of a parameter: prose is not. */
const NAME = /^[\p{L}_$][^\s<>{}[\]()"'`,;=|\\]{0,127}$/u

export const isName = (text: string): boolean => NAME.test(text)

/** The parameters a tool declares; undefined where the tool is unknown or declares none. */
export function parametersOf(name: string, tools: ToolIndex): ReadonlySet<string> | undefined {
  const properties = tools.resolve(name)?.parameters?.['properties']
  return isRecord(properties) ? new Set(Object.keys(properties)) : undefined
}

const PARTIAL = /<\/?[\p{L}_:｜|]*$/uy

/** The text ends at `at`, or in the first characters of a tag there. */
export const endsAt = (text: string, at: number): boolean =>
  at >= text.length || (text[at] === '<' && matchAt(PARTIAL, text, at) !== undefined)

/** The text ends at `at`, or in the first characters of a closing tag there: what stands before is whole. */
export const endsClosedAt = (text: string, at: number): boolean => at >= text.length || (text.startsWith('</', at) && endsAt(text, at))

/** One call and where it ends. */
export interface CallRead {
  readonly call: MarkupCall
  readonly end: number
  /** Its own closing tag was there. */
  readonly closed: boolean
}

/** What is found out about a call while it is read. */
export class Draft {
  readonly #entries = new Map<string, TextEntry>()
  readonly #damage = new Set<string>()
  #unsure = false
  readonly name: string

  /** The key whose value, where it is the only one, may be all arguments as one JSON object. */
  readonly #whole: string | undefined

  constructor(name: string, whole?: string) {
    this.name = name
    this.#whole = whole
  }

  get size(): number {
    return this.#entries.size
  }

  /** A key that comes again replaces what it had. */
  add(entry: TextEntry): void {
    const before = this.#entries.get(entry.key)
    if (before && before.text !== entry.text) this.doubted(`the parameter ${entry.key} came twice with different values`)
    this.#entries.set(entry.key, entry)
  }

  /** A parameter that was added goes on: it has this text. */
  extend(key: string, text: string): void {
    const entry = this.#entries.get(key)
    if (entry) this.#entries.set(key, { ...entry, text })
  }

  damaged(what: string | undefined): void {
    if (what) this.#damage.add(what)
  }

  /** Damage after which where a value begins or ends is a judgement. */
  doubted(what: string | undefined): void {
    if (what) this.#unsure = true
    this.damaged(what)
  }

  /** The text ended inside: what came so far is for the message to the model only. */
  cutOff(text: string): CallRead {
    return { call: { ...this.#call(), cutOff: true }, end: text.length, closed: false }
  }

  done(end: number, closed: boolean): CallRead {
    if (!closed) this.damaged('the closing tag of the call was missing')
    return { call: this.#call(), end, closed }
  }

  /** The markup says nothing that could be called: its text is handed on to be refused. */
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

/** The call with one more thing that was wrong, named first. */
export function withDamage(read: CallRead, what: string): CallRead {
  return { ...read, call: { ...read.call, damage: read.call.damage ? `${what}; ${read.call.damage}` : what } }
}

/** A block of the calls read, unless there is none. */
export function blockOf(calls: readonly CallRead[], end: number, complete: boolean): Block | undefined {
  return calls.length === 0 ? undefined : { end, calls: calls.map((one) => one.call), complete }
}
