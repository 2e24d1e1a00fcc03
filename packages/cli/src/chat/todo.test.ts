import stringWidth from 'string-width'
import { describe, expect, it } from 'vitest'
import { plain } from '../ui/colors.ts'
import { openTodos, type Todo, todoLines, todosIn } from './todo.ts'

const list = (statuses: string): readonly Todo[] =>
  [...statuses].map((mark, at) => ({
    text: `task ${at}`,
    status: ({ x: 'completed', '>': 'in_progress', '-': 'cancelled' } as const)[mark] ?? 'pending',
  }))
const shown = (todos: readonly Todo[], lines: number, columns = 80) => todoLines(todos, { lines, columns, colors: plain })

describe('the task list', () => {
  it('is shown whole where it fits, and nothing of an empty one', () => {
    expect(shown([], 8)).toEqual([])
    expect(shown(list('x> -'), 8)).toEqual(['  [x] task 0', '  [>] task 1', '  [ ] task 2', '  [-] task 3'])
  })

  it('folds what is done and what is far off, never the current task', () => {
    expect(shown(list('xxx     >    '), 5)).toEqual(['  [x] 3 done', '  [>] task 8', '  [ ] task 3', '  [ ] task 4', '  … 7 more'])
    expect(shown(list('xxxx> '), 3)).toEqual(['  [x] 4 done', '  [>] task 4', '  [ ] task 5'])
    expect(shown(list('>     '), 4)).toEqual(['  [>] task 0', '  [ ] task 1', '  [ ] task 2', '  … 3 more'])
  })

  it('is one line where there is no room, or when it is done', () => {
    expect(shown(list('x> '), 1)).toEqual(['  todo: 1 of 3 done · task 1'])
    expect(shown(list('xx-'), 8)).toEqual(['  todo: 3 of 3 done'])
    expect([openTodos(list('xx-')), openTodos(list('x ')).length]).toEqual([[], 2])
  })

  it('is never wider than the terminal, and shows no control characters', () => {
    const long: readonly Todo[] = [{ text: `\x1b[2J${'漢字'.repeat(80)}\nnext`, status: 'in_progress' }]
    for (const lines of [1, 8])
      for (const line of shown(long, lines, 40)) {
        expect(stringWidth(line)).toBeLessThanOrEqual(40)
        expect(line).not.toMatch(/[\x00-\x1f]/)
      }
  })

  it.each([
    [undefined],
    ['x'],
    [{ items: [] }],
    [[null, 1, { text: 'a' }, { text: 'a', status: 'toString' }, { text: 1, status: 'pending' }]],
  ])('leaves out what is not an entry: %j', (value) => expect(todosIn(value)).toEqual([]))
})
