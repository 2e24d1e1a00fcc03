/** `mulligan run`: one turn, from the flags to the exit code. */
import { join } from 'node:path'
import { type Agent, createAgent, openStore, type Store, type TurnOutcome } from '@mulligan/agent'
import type { Limits } from '@mulligan/core'
import { createSpill } from '@mulligan/tools'
import { EXIT, exitCodeOf, UsageError } from '../exit.ts'
import { watchInterrupts } from '../interrupt.ts'
import { fileLog } from '../log.ts'
import { type ConfiguredModel, openModel } from '../models/open.ts'
import { openDataDir, workingFolder } from '../paths.ts'
import { readPrompt } from '../prompt.ts'
import { chooseSession } from '../session.ts'
import { openToolbox, problemText, refuseTaken, type Toolbox } from '../toolbox.ts'
import { askInTerminal, createApprover } from '../ui/approve.ts'
import { colorsFor } from '../ui/colors.ts'
import type { Output } from '../ui/output.ts'
import { jsonReporter, jsonStreamReporter, type Reporter, textReporter } from '../ui/report.ts'
import { subjectOf } from '../ui/subject.ts'

export interface RunFlags {
  readonly model?: string
  readonly baseUrl?: string
  readonly cwd?: string
  readonly session?: string
  readonly last?: boolean
  readonly json?: boolean
  readonly jsonStream?: boolean
  readonly yes?: boolean
  readonly maxRequests?: number
  readonly timeout?: number
}

/** @returns the exit code. @throws UsageError */
export async function runCommand(promptArgument: string | undefined, flags: RunFlags, output: Output): Promise<number> {
  const resumes = flags.last === true || flags.session !== undefined
  const cwd = workingFolder(flags.cwd)
  const configured = await openModel(flags, process.env)
  const prompt = await readPrompt(promptArgument, resumes)
  const toolbox = await openToolbox(cwd, { get dir() { return outputsOf() } })
  refuseTaken(toolbox)
  if (prompt.warning) output.err(`${prompt.warning}\n`)
  for (const problem of toolbox.problems) output.err(`Left out: ${problemText(problem)}\n`)
  return 0
}
