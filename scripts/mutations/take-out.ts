/** Finds the code of a rule in its file. Ignores formatting: line breaks, spaces, comment lines and trailing commas. */
import { parseAst } from 'vitest/node'
import type { Mutation } from './mutation.ts'

/** The text of the file without the rule. @throws Error if its code is missing or occurs more than once */
export function takeOut({ id, file, within, find, replace }: Omit<Mutation, 'rule' | 'test'>, text: string): string {
  const [from, to] = within === undefined ? [0, text.length] : extentOf(within, file, text)
  const { code, at } = condense(text, from, to)
  const wanted = condense(find, 0, find.length).code
  const first = code.indexOf(wanted)
  if (wanted === '' || first === -1 || code.indexOf(wanted, first + 1) !== -1)
    throw new Error(`mutation ${id}: ${JSON.stringify(find)} must occur exactly once in ${within ? `${within} of ` : ''}${file}`)
  const last = first + wanted.length - 1
  return text.slice(0, at[first]) + replace + text.slice((at[last] as number) + 1)
}

interface Condensed {
  readonly code: string
  /** The position of each character of `code` in the text. */
  readonly at: readonly number[]
}

const LAYOUT = /(?<=^[ \t]*)(?:\/\/|\/?\*).*$|\s+|,(?=\s*[)\]}])/gm

function condense(text: string, from: number, to: number): Condensed {
  const at: number[] = []
  const part = text.slice(from, to)
  const add = (start: number, end: number): void => {
    for (let index = start; index < end; index++) at.push(from + index)
  }
  let next = 0
  for (const { index, 0: layout } of part.matchAll(LAYOUT)) {
    add(next, index)
    next = index + layout.length
  }
  add(next, part.length)
  return { code: at.map((index) => text[index]).join(''), at }
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly id?: { readonly name?: string } | null
  readonly key?: { readonly name?: string } | null
}

/** The range of the function, variable, class or property with that name. @throws Error if there is none, or more than one */
function extentOf(name: string, file: string, text: string): readonly [from: number, to: number] {
  const found: Node[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    const node = value as Node
    if (node.id?.name === name || (node.type !== 'MemberExpression' && node.key?.name === name)) found.push(node)
    Object.values(value).forEach(visit)
  }
  visit(parseAst(text, { lang: 'ts' }))
  const [only, another] = found
  if (!only || another) throw new Error(`${name} must be declared exactly once in ${file}`)
  return [only.start, only.end]
}
