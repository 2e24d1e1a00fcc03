/** The model's task list as the chat shows it: a few lines above the input while a turn runs, otherwise one. Pure. */
import { oneLine } from '@mulligan/host/light'
import type { Colors } from '../ui/colors.ts'
import { cutLine } from './markdown/wrap.ts'

const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]', cancelled: '[-]' } as const

export interface Todo {
  readonly text: string
  readonly status: keyof typeof MARKS
}

const MAX_ITEMS = 100

/** Returns the entries of a list, leaving out what is not one: a stored list can be damaged, and a tool of the user can have this name. */
export const todosIn = (value: unknown): readonly Todo[] =>
  (Array.isArray(value) ? value : [])
    .slice(0, MAX_ITEMS)
    .filter((one): one is Todo => typeof one?.text === 'string' && Object.hasOwn(MARKS, one.status))

export const isOpen = ({ status }: Todo): boolean => status === 'pending' || status === 'in_progress'

/** Returns the list without one that is done. */
export const openTodos = (todos: readonly Todo[]): readonly Todo[] => (todos.some(isOpen) ? todos : [])

interface Shape {
  /** Maximum lines. Fewer than three show the list folded. */
  readonly lines: number
  readonly columns: number
  readonly colors: Colors
}

export function todoLines(todos: readonly Todo[], { lines, columns, colors }: Shape): readonly string[] {
  if (todos.length === 0) return []
  const open = todos.filter(isOpen)
  const cut = (line: string): string => cutLine(line, columns - 2)
  if (lines < 3 || open.length === 0) return [colors.dim(`  ${cut(foldedText(todos))}`)]
  const shown = todos.length <= lines ? todos.map((one) => lineOf(one, colors, cut)) : shortened(todos, lines, colors, cut)
  return shown.map((line) => `  ${line}`)
}

function foldedText(todos: readonly Todo[]): string {
  const open = todos.filter(isOpen)
  const now = open.find(({ status }) => status === 'in_progress') ?? open[0]
  return `todo: ${todos.length - open.length} of ${todos.length} done${now ? ` · ${oneLine(now.text, 200)}` : ''}`
}

/** Folds what is done into one line, and what is far off into another. */
function shortened(todos: readonly Todo[], lines: number, colors: Colors, cut: (line: string) => string): readonly string[] {
  const open = todos.filter(isOpen).toSorted((a, b) => Number(b.status === 'in_progress') - Number(a.status === 'in_progress'))
  const done = todos.length - open.length
  const room = lines - (done > 0 ? 1 : 0)
  const shown = open.length <= room ? open : open.slice(0, room - 1)
  return [
    ...(done > 0 ? [colors.dim(`${MARKS.completed} ${done} done`)] : []),
    ...shown.map((one) => lineOf(one, colors, cut)),
    ...(shown.length < open.length ? [colors.dim(`… ${open.length - shown.length} more`)] : []),
  ]
}

function lineOf(todo: Todo, { bold, dim }: Colors, cut: (line: string) => string): string {
  const line = cut(`${MARKS[todo.status]} ${oneLine(todo.text, 200)}`)
  return todo.status === 'in_progress' ? bold(line) : isOpen(todo) ? line : dim(line)
}
