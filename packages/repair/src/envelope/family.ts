/**
 * Types for model families: the markup that a family writes around calls when its server does not remove it. `registry.ts` lists the
 * families.
 */
import type { ToolSpec } from '../tool-spec.ts'

/** Describes how a family's markup is recognised and how one block of it is read. */
export interface Family {
  /** Used in notes, profiles and `--family`: `glm`, `hermes`. */
  readonly id: string
  /**
   * Strings that begin a block, matched exactly. The stream holds text back only while it could become one of them. Several families
   * may share an opener; the first whose `read` returns a block wins.
   */
  readonly openers: readonly string[]
  /**
   * A block may also begin with a tool name alone at the start of a line, followed by one of these strings with at most white space
   * between.
   */
  readonly afterName?: readonly string[]
  /**
   * For families without markup of their own: returns whether calls can begin at `at`, judging by the first characters. Called at the
   * family's openers and at the start of a reply. `maybe` means that the text ends too early to tell. Such openers (bare JSON,
   * `[f(x=1)]`) count only at the start of a line, with exact names and with nothing after them. Without it, the openers are taken for
   * markup that nobody types by hand (special tokens, tags of the family).
   */
  readonly begins?: (text: string, at: number, tools: ToolIndex) => 'no' | 'maybe' | 'yes'
  /**
   * Reads the block that begins at `at`, the position of an opener. Returns undefined if the block does not belong to this family.
   * Takes linear time in what it consumes; never throws and never looks back before `at`.
   */
  readonly read: (source: Source, at: number) => Block | undefined
}

/** The text of a reply and the state kept while it is read. */
export interface Source {
  readonly text: string
  readonly tools: ToolIndex
  /** Returns the next position of `needle` at or after `from`, or -1. Repeating a search that found nothing costs nothing. */
  readonly find: (needle: string, from: number) => number
}

/** Looks up tools by name, whatever the prefix, suffix or case of the name. */
export interface ToolIndex {
  /** Finds a tool by its exact name or a declared alias. */
  readonly exact: (name: string) => ToolSpec | undefined
  /** Like `exact`, but tolerates known prefixes, suffixes, case and separators. Returns undefined if the name is ambiguous. */
  readonly resolve: (name: string) => ToolSpec | undefined
  /** All names that `exact` accepts. */
  readonly names: readonly string[]
  /** Characters of the longest name. */
  readonly longestName: number
}

/** One block of markup: a single call or several adjacent calls. */
export interface Block {
  /** The position after the block. White space that belongs to the markup is part of the block. */
  readonly end: number
  readonly calls: readonly MarkupCall[]
  /** Whether the closing markup is present, or the family needs none and the payload is complete. */
  readonly complete: boolean
}

/** A call as written. The tool's schema determines its value types later. */
export interface MarkupCall {
  readonly name: string
  /** The provider's id, if the markup carries a meaningful one (`functions.read:0`). */
  readonly id?: string
  readonly arguments: RawArguments
  /** The text ended inside this call, so its arguments cannot be trusted. */
  readonly cutOff?: true
  /** A short description of what was wrong with the markup: "the opening <arg_value> was missing". Absent if it was canonical. */
  readonly damage?: string
  /** The damage leaves the boundaries of a value uncertain: good enough for a read, but not for a call with effects. */
  readonly unsure?: true
  /** The call is unambiguous; only `damage` suggests that it may not be meant as a call. */
  readonly unmarked?: true
}

/** Calls read from a text. */
export interface CallsRead {
  readonly calls: readonly MarkupCall[]
  readonly end: number
  /** Nothing was left open at its end. */
  readonly whole: boolean
}

export type RawArguments =
  /** Already parsed: from JSON, a Python literal or a family's own notation. */
  | { readonly kind: 'object'; readonly value: Readonly<Record<string, unknown>> }
  /** Text that should be one JSON object, as written. Broken JSON is repaired later or refused by the tool's policy. */
  | { readonly kind: 'json'; readonly text: string }
  /** Markup that contains nothing callable; `damage` says why. Never run. */
  | { readonly kind: 'unread'; readonly text: string }
  /** Keys and the raw text of their values, in order. The schema decides whether `1` is a number or a string. */
  | { readonly kind: 'texts'; readonly entries: readonly TextEntry[] }

export interface TextEntry {
  readonly key: string
  readonly text: string
  /** Set if the markup itself marks the value as text (`string="true"`) or as JSON (`string="false"`). */
  readonly as?: 'text' | 'json'
}
