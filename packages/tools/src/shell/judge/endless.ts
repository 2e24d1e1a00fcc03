/** Loops that start processes without end. */
import type { Node } from './parse.ts'

type Of<T extends Node['type']> = Extract<Node, { readonly type: T }>

export const isEndless = ({ clause, kind }: Of<'While'>): boolean => {
  const [only, ...more] = clause.commands
  const { command } = only ?? {}
  if (command === undefined || more.length > 0) return false
  if (command.type === 'ArithmeticCommand') return /^\s*[1-9]\d*\s*$/.test(command.body)
  const words = command.type === 'Command' ? [command.name, ...command.args].map((one) => one?.text).join(' ') : ''
  return (kind === 'while' ? /^(?::|true|\[ 1 \]|test 1|\/bin\/true)$/ : /^(?:false|! true)$/).test(words)
}

/** A background job in each round, and nothing that waits or ends. */
export function spawnsForEver(body: Of<'CompoundList'>): boolean {
  const waits = (node: Node): boolean => node.type === 'Command' && /^(?:wait|sleep|break|exit|read|return)$/.test(node.name?.text ?? '')
  return (
    body.commands.some(({ background }) => background) && !body.commands.some(({ command, background }) => !background && waits(command))
  )
}
