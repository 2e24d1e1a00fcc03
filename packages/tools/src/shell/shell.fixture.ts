/** Test helpers for the shell: the tools in their own session, over a real sandbox. */
import { spawnSync } from 'node:child_process'
import { type CallRecord, render, type Tool, type ToolEvent } from '@mulligan/core'
import { createExecutor, type ExecutorOptions } from '@mulligan/core/executor'
import { createSandbox, type SandboxOptions } from '@mulligan/sandbox'
import { afterAll } from 'vitest'
import { createWorkspace } from '../create-workspace.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { type ShellOptions, type ShellTools, shellTools } from './index.ts'

const opened: ShellTools[] = []
afterAll(async () => {
  await Promise.all(opened.map((shell) => shell.dispose()))
})

export interface ShellFixture extends ShellTools {
  readonly root: string
  readonly tool: (name: string) => Tool
}

export type ShellFixtureOptions = Partial<Omit<ShellOptions, 'workspace'>> & { readonly sandboxOptions?: Partial<SandboxOptions> }

/**
 * Opens a session.
 * @param root an existing folder; a new one by default
 */
export function shell(
  files: Readonly<Record<string, string>> = {},
  { sandboxOptions, ...options }: ShellFixtureOptions = {},
  root = temporary(),
): ShellFixture {
  put(root, files)
  const workspace = createWorkspace(root)
  const made = shellTools({
    workspace,
    sandbox: () => createSandbox({ workspace: workspace.root, backend: BACKEND, ...sandboxOptions }),
    ...options,
  })
  opened.push(made)
  return { ...made, root, tool: (name) => made.tools.find((tool) => tool.name === name) as Tool }
}

/** The best available backend. The result of a command is the same on any backend; restrictions are tested where there are some. */
export const BACKEND = hasBubblewrap() ? 'bubblewrap' : 'none'

function hasBubblewrap(): boolean {
  return process.platform === 'linux' && spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
}

export interface Called {
  readonly record: CallRecord
  readonly result: CallRecord['result']
  /** The text that the model reads. */
  readonly text: string
}

/** Makes calls as a turn does, each in its own model response. The person approves everything. */
export function turn(tools: readonly Tool[], options: Partial<ExecutorOptions> = {}) {
  const events: ToolEvent[] = []
  const executor = createExecutor({
    policy: () => ({ decision: 'allow', reason: 'a test' }),
    ...options,
    tools,
    onEvent: (event) => void events.push(event),
  })
  let step = 0
  const call = async (name: string, input: unknown): Promise<Called> => {
    step++
    const prepared = await executor.prepare({ id: `t/${step}/0`, step, ordinal: 0, name, input })
    if (prepared.kind === 'approval') throw new Error('asks')
    const record = prepared.kind === 'result' ? prepared.record : await executor.execute(prepared.call)
    return { record, result: record.result, text: render(record.result) }
  }
  return { call, events }
}
