/** What becomes of a command's end. */
import { core, type Mutation, tools } from './mutation.ts'

const bash = (name: string): Mutation['test'] => ({ file: tools('shell/bash/bash.test.ts'), name })
const background = (name: string): Mutation['test'] => ({ file: tools('shell/background/background.test.ts'), name })
const shell = (name: string): Mutation['test'] => ({ file: tools('shell/shell.test.ts'), name })

export const SHELL: readonly Mutation[] = [
  {
    id: 'exit-is-an-answer',
    rule: 'shell: an exit code that is an answer is no failure',
    file: tools('shell/bash/outcome.ts'),
    find: `answerOf(commands, exitCode, printed.stderr)`,
    replace: `(answerOf(commands, exitCode, printed.stderr), undefined)`,
    test: bash('an answer: grep three a.txt'),
  },
  {
    id: 'not-run-is-retry',
    rule: 'shell: what could not be run as it is written is a wrong call',
    file: tools('shell/bash/outcome.ts'),
    find: `if (refused) throw refused`,
    replace: ``,
    test: bash('retry: cta a.txt'),
  },
  {
    id: 'repeatable-only',
    rule: 'shell: a command that has done something is not offered again whole',
    file: tools('shell/bash/not-run.ts'),
    find: `if (unsafe.some((one) => !isSame(one, owner))) return false`,
    replace: ``,
    test: bash('retry: mkdir made && cat main.ts'),
  },
  {
    id: 'sandbox-is-no-command',
    rule: 'shell: a sandbox that cannot start is no command that failed',
    file: tools('shell/common/faults.ts'),
    find: `isSandboxError(error) ? failure('The sandbox could not be started, so the command was not run', error, root) : error`,
    replace: `(failure('', error as never, root), error)`,
    test: bash('the sandbox that cannot start is no command that failed, and is tried again'),
  },
  {
    id: 'cut-off-is-indeterminate',
    rule: 'shell: a command that the turn has cut off is indeterminate',
    file: tools('shell/bash/run.ts'),
    find: `if (completed.reason === 'aborted') signal.throwIfAborted()`,
    replace: ``,
    test: bash('cut off by the turn it is indeterminate, and its processes are gone'),
  },
  {
    id: 'shell-scope-is-tool',
    rule: 'shell: after a command that was cut off, every command that may write asks',
    file: tools('shell/bash/tool.ts'),
    find: `indeterminateScope: 'tool',`,
    replace: ``,
    test: bash('after one that was cut off, the same with a space, and any other that may write, asks'),
  },
  {
    id: 'shell-limit-with-network',
    rule: 'shell: a command that a limit has ended while it could reach the network is indeterminate',
    file: tools('shell/bash/outcome.ts'),
    find: `...(isUnknown && { status: 'indeterminate' as const }),`,
    replace: ``,
    test: bash('with the network, a command that may write is indeterminate'),
  },
  {
    id: 'told-before',
    rule: 'shell: what waits for a keyboard is refused before anything is opened',
    file: tools('shell/common/checked-first.ts'),
    find: `const found = wrong(first.value as Input)`,
    replace: `const found = (wrong(first.value as Input), undefined) as Found`,
    test: bash('nothing is opened until a command is run'),
  },
  {
    id: 'looking-changes-nothing',
    rule: 'shell: a command that only reads is no effect',
    file: core('call/ready-call.ts'),
    find: `own !== undefined && RANK[own] < RANK[tool.effect] ? own : tool.effect`,
    replace: `(own, tool.effect)`,
    test: bash('to look in between changes nothing'),
  },
  {
    id: 'session-ends-jobs',
    rule: 'shell: background commands end with the session',
    file: tools('shell/index.ts'),
    find: `await jobs.killAll()\n      await sandbox.close()`,
    replace: ``,
    test: background('ends with the session; the control goes on'),
  },
  {
    id: 'judge-denies',
    rule: 'shell: what destroys is denied whatever is allowed',
    file: tools('shell/policy.ts'),
    find: `if (judged.verdict === 'deny')`,
    replace: `if (false)`,
    test: shell('what is denied is denied whatever is allowed, and what only reads is asked by nobody'),
  },
]
