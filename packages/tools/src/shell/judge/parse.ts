/** Text to syntax tree. */
import { forEachChild, type ParsedScript, parse as parseBash, type SyntaxNode, type Word, type WordPart } from 'unbash'

export type { ParsedScript as Script, SyntaxNode as Node, Word, WordPart } from 'unbash'

export { forEachChild }

export const parse = (text: string): ParsedScript => parseBash(text)

/** The words that a text makes when it stands where arguments do. */
export function wordsOf(text: string): Word[] {
  const command = parseBash(`: ${text}`).commands[0]?.command
  return command?.type === 'Command' ? command.args.flatMap((arg) => (arg.type === 'Word' ? [arg] : [])) : []
}

/** Calls it with each script that a part of a word holds, however deep, but not with scripts in scripts. */
export function eachScript(node: SyntaxNode, call: (script: ParsedScript) => void): void {
  if ('script' in node && node.script) call(node.script)
  else forEachChild(node, (child) => eachScript(child, call))
}

/** A substitution, told by what it holds. */
export type Substitution = Extract<WordPart, { readonly script: ParsedScript | undefined }>
