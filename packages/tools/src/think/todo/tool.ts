import { defineTool, empty, ModelRetry, ok, type Tool, type ToolOk } from '@mulligan/core'
import { z } from 'zod'
import { describe } from '../../describe.ts'
import { noted, type SessionState } from '../state.ts'

const MAX_ITEMS = 100
const MAX_CHARS = 500
const KEY = 'todo'
const STATUSES = ['pending', 'in_progress', 'completed', 'cancelled'] as const
type Status = (typeof STATUSES)[number]

/** Status names used by other agents. */
const SYNONYMS: Readonly<Record<string, Status>> = {
  ...{ todo: 'pending', open: 'pending', not_started: 'pending' },
  ...{ doing: 'in_progress', active: 'in_progress', started: 'in_progress', inprogress: 'in_progress' },
  ...{ done: 'completed', complete: 'completed', finished: 'completed' },
  ...{ canceled: 'cancelled', skipped: 'cancelled' },
}

function statusOf(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const word = value.trim().toLowerCase().replaceAll(/[ -]+/g, '_')
  return SYNONYMS[word] ?? word
}

const item = () =>
  z.object({
    text: z.string().trim().min(1).max(MAX_CHARS).describe('the task'),
    status: z.enum(STATUSES).default('pending').describe('how far it is'),
  })
const input = z.object({ items: z.array(item()).max(MAX_ITEMS).optional().describe('the whole list, in order') })

type TodoItem = z.infer<ReturnType<typeof item>>

const ALIASES = ['update_plan', 'todowrite', 'todo_write', 'write_todos', 'update_todos', 'todoread', 'todo_read']

/** Creates the tool for the session's task list. */
export function todoTool(state: SessionState): Tool {
  return defineTool({
    name: 'todo',
    description: describe(import.meta.url),
    input,
    effect: 'read',
    priority: 10,
    digest: 'latest',
    readsWorkspace: false,
    timeout: 10,
    aliases: ALIASES.map((name) => ({ name, adapt: fromOthers })),
    parameterAliases: { items: ['todos', 'plan', 'tasks', 'list'], 'items[].text': ['content', 'step', 'task', 'title', 'description'] },
    target: () => 'task list',
    examples: [
      { outcome: 'ok', input: { items: [{ text: 'Find the cause', status: 'in_progress' }, { text: 'Fix it' }] } },
      { outcome: 'empty', input: {}, why: 'there is no list yet' },
      { outcome: 'retry', input: { items: ['a', 'b'].map((text) => ({ text, status: 'in_progress' })) }, why: 'two at once' },
    ],
    execute: ({ items }) => todo(state, items),
  })
}

/** Adapts `plan: [{step, status}]` and `todos: [{content, status, activeForm, id, priority}]`, or a list of texts. */
function fromOthers(call: Record<string, unknown>): Record<string, unknown> {
  const list = call['items'] ?? call['todos'] ?? call['plan'] ?? call['tasks']
  return Array.isArray(list) ? { items: list.map(oneItem) } : list === undefined ? {} : { items: list }
}

function oneItem(one: unknown): unknown {
  if (typeof one === 'string') return { text: one }
  if (typeof one !== 'object' || one === null) return one
  const { text, content, step, task, title, description, status } = one as Record<string, unknown>
  return { text: text ?? content ?? step ?? task ?? title ?? description, ...(status === undefined ? {} : { status: statusOf(status) }) }
}

async function todo(state: SessionState, items: readonly TodoItem[] | undefined): Promise<ToolOk> {
  if (items === undefined) return list(state, itemsIn(state.get(KEY)))
  const doing = items.filter(({ status }) => status === 'in_progress')
  if (doing.length > 1) {
    const texts = doing.map(({ text }) => JSON.stringify(text)).join(', ')
    const one = items.map((item) => (item === doing[0] || item.status !== 'in_progress' ? item : { ...item, status: 'pending' }))
    throw new ModelRetry(`${doing.length} items are in_progress: ${texts}. Nothing was changed.`, {
      parameter: 'items',
      constraint: 'a list with at most one item in_progress',
      call: { tool: 'todo', input: { items: one } },
    })
  }
  await state.set(KEY, items)
  return list(state, items)
}

const MARKS: Readonly<Record<Status, string>> = { pending: '[ ]', in_progress: '[>]', completed: '[x]', cancelled: '[-]' }

function list(state: SessionState, items: readonly TodoItem[]): ToolOk {
  const open = items.filter(({ status }) => status === 'pending' || status === 'in_progress').length
  const data = { items, open }
  if (items.length === 0) return empty(data, 'The task list is empty.', noted(state))
  const lines = items.map(({ text, status }) => `${MARKS[status]} ${text.replaceAll(/\s+/g, ' ')}`)
  return ok(data, {
    content: `${open} of ${items.length} open\n${lines.join('\n')}`,
    display: lines.map((line) => `- ${line}`).join('\n'),
    count: items.length,
    ...noted(state),
  })
}

/** Ignores entries that are invalid, such as those from another version or edited by hand. */
const itemsIn = (value: unknown): TodoItem[] => z.array(item()).safeParse(value).data ?? []
