/** What a family of models writes around a call when its server does not take it off. One file a family; `families/index.ts` lists them. */
import type { ToolSpec } from '../tool-spec.ts'

/** A family's markup: by what it is recognised, and how one block of it is read. */
export interface Family {
  /** For notes, profiles and `--family`: `glm`, `hermes`. */
  readonly id: string
  /**
   * Texts that begin a block, matched exactly. The stream holds text back only while it could become one of them.
   * Several families may share one: the first whose `read` gives a block has it.
   */
  readonly openers: readonly string[]
  /** Where `families` has several with the same opener, the higher is tried first: markup with more structure before plain JSON. Default 0. */
  readonly precedence?: number
  /**
   * The openers are markup that nobody types by hand (special tokens, tags of the family). Without: bare JSON, `[f(x=1)]`,
   * a name on a line of its own; these count only at the start of a line, with exact names, and with nothing after them.
   */
  readonly strong: boolean
  /** A block may also begin with a tool's name, alone at the start of a line, with one of these after it and white space at most between. */
  readonly afterName?: readonly string[]
  /**
   * Of a family without markup: whether calls can begin at `at`, by their first characters. Asked at its openers, and where a
   * reply begins. `maybe`: the text ends too early to tell.
   */
  readonly begins?: (text: string, at: number, tools: ToolIndex) => 'no' | 'maybe' | 'yes'
  /**
   * Reads the block that begins at `at`, where one of the openers stands. Undefined: it is none of this family's.
   * Linear in what it consumes; never throws; never looks back before `at`.
   */
  readonly read: (source: Source, at: number) => Block | undefined
}

/** The text of a reply, and what is known while it is read. */
export interface Source {
  readonly text: string
  readonly tools: ToolIndex
  /** Position of the next `needle` from `from` on, -1 when there is none: asked again for one that is not there, it costs nothing. */
  readonly find: (needle: string, from: number) => number
}

/** Which names are tools, whatever wrapping or case they come in. */
export interface ToolIndex {
  /** By the tool's own name or a declared alias, exactly. */
  readonly exact: (name: string) => ToolSpec | undefined
  /** Also through known prefixes, suffixes, case and separators; undefined where that is ambiguous. */
  readonly resolve: (name: string) => ToolSpec | undefined
  /** All that `exact` knows. */
  readonly names: readonly string[]
}

/** One block of markup: one call, or several that stand together. */
export interface Block {
  /** Where it ends: the first character after it. White space that belongs to the markup is inside. */
  readonly end: number
  readonly calls: readonly MarkupCall[]
  /** It has its closing markup, or its family needs none and the payload is whole. */
  readonly complete: boolean
}

/** A call as it was written. What its values are, the tool's schema decides later. */
export interface MarkupCall {
  readonly name: string
  /** The provider's id, where the markup carries one that means something (`functions.read:0`). */
  readonly id?: string
  readonly arguments: RawArguments
  /** The text ended inside this call: its arguments are not to be trusted. */
  readonly cutOff?: true
  /** What was wrong with the markup, in a few words: "the opening <arg_value> was missing". Absent where it was canonical. */
  readonly damage?: string
  /** With the damage, where a value begins or ends is a judgement: good enough for a read, not for what has effects. */
  readonly unsure?: true
  /** It reads without doubt, and nothing but `damage` says that it may not be meant as a call. */
  readonly unmarked?: true
}

export type RawArguments =
  /** Read already: from JSON, a Python literal, a family's own notation. */
  | { readonly kind: 'object'; readonly value: Readonly<Record<string, unknown>> }
  /** Text that is to be one JSON object, as it stood: broken JSON is repaired later, and refused by the tool's policy. */
  | { readonly kind: 'json'; readonly text: string }
  /** Markup that says nothing that could be called; `damage` says why. Never run. */
  | { readonly kind: 'unread'; readonly text: string }
  /** Keys with the raw text of their values, in order: whether `1` is a number or a text the schema says. */
  | { readonly kind: 'texts'; readonly entries: readonly TextEntry[] }

export interface TextEntry {
  readonly key: string
  readonly text: string
  /** The markup itself says that it is a text (`string="true"`) or that it is JSON (`string="false"`). */
  readonly as?: 'text' | 'json'
}
