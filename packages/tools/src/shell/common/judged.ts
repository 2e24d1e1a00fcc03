/** The judge's word on a command, for a workspace. Asked for each of its targets in turn, so the last one is kept. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { judgeCommand } from '../judge/judge.ts'
import type { Judged } from '../judge/types.ts'

export interface JudgePlace {
  /** Absolute path of the workspace. */
  readonly workspace: string
  /** Default: the person's. */
  readonly home?: string
  /** Asked instead of one of its own: several policies on one call then judge its command once. */
  readonly judge?: Judge
}

export type Judge = (command: string, cwd?: string) => Judged

export function createJudge({ workspace, home = homedir(), judge }: JudgePlace): Judge {
  if (judge) return judge
  let last: { readonly command: string; readonly cwd: string; readonly judged: Judged } | undefined
  return (command, cwd = '.') => {
    if (last?.command !== command || last.cwd !== cwd)
      last = { command, cwd, judged: judgeCommand(command, { cwd: resolve(workspace, cwd), workspace, home }) }
    return last.judged
  }
}

/**
 * What a call of the shell acts on: its simple commands, each in one spelling, and the script where something of it belongs to
 * none of them. That one is marked, so that no pattern for a command matches it.
 */
export function targetsOf({ commands, whole }: Judged, command: string): readonly string[] {
  const texts = [...new Set(commands.map(({ text }) => text)), ...(whole ? [`(script) ${command.trim()}`] : [])]
  return texts.length > 0 ? texts : [command.trim()]
}

/** What a no to one of them is remembered by: the same command on the same paths, wherever it was said. */
export const keysOf = ({ commands }: Judged, target: string): readonly string[] =>
  commands.flatMap(({ text, key }) => (text === target ? [key] : []))
