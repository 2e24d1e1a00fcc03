/** What each tool does on found, empty, wrong and failing, and whether it keeps the contract. */
import { tmpdir } from 'node:os'
import { type Tool, wrapTools } from '@mulligan/core'
import { oneLine, safeJson } from '@mulligan/host/light'
import { openTools, problemText, sandboxOptions } from '@mulligan/host/parts'
import type { SandboxOptions } from '@mulligan/sandbox'
import { type ConformanceReport, conformance, type ToolReport, temporaryWorkspace } from '@mulligan/testing'
import { createWorkspace, fileTools, gitTools, thinkTools } from '@mulligan/tools'
import { EXIT } from '../../exit.ts'
import { ownCodeIn } from '../../own-code.ts'
import { workingFolder } from '../../paths.ts'
import { refuseUntrusted, settledTools } from '../../trust.ts'
import { type Colors, colorsFor } from '../../ui/colors.ts'
import type { Output } from '../../ui/output.ts'
import { table } from '../../ui/table.ts'
import { makeRepository } from './example-repository.ts'
import { exampleShells } from './example-shells.ts'
import type { ToolsFlags } from './list.ts'
import { webStandIn } from './web-stand-in.ts'

/** @returns 1 where a tool does not conform or could not be loaded */
export async function auditTools(flags: ToolsFlags, output: Output): Promise<number> {
  const { out, err } = output
  const cwd = workingFolder(flags.cwd)
  const { settings } = await settledTools(cwd, flags, { err: () => undefined })
  refuseUntrusted(cwd)
  const { tools, own, problems } = await openTools(cwd, { env: process.env, settings, around: ownCodeIn(cwd) })
  const mine = tools.filter(({ name }) => own.has(name))
  const report = await auditOf(mine, sandboxOptions(settings.sandbox, cwd, process.env))
  const conforms = report.conforms && problems.length === 0
  if (flags.json) out(`${safeJson({ ...report, conforms, problems })}\n`)
  else {
    out(`${tableOf(report).join('\n')}\n`)
    for (const line of [...faultLines(report, colorsFor(process.stdout)), ...problems.map(problemText)]) out(`${line}\n`)
    if (report.problem) err(`${oneLine(report.problem, 400)}\n`)
  }
  return conforms ? EXIT.ok : EXIT.failed
}

/** The built-in tools with what their examples need, a repository and a web on this machine, and the person's own. */
async function auditOf(mine: readonly Tool[], options: SandboxOptions): Promise<ConformanceReport> {
  await using web = await webStandIn()
  await using shells = await exampleShells(options)
  const git = new Set(gitTools(createWorkspace('.')).map(({ name }) => name))
  return await conformance(
    (dir) => {
      const workspace = createWorkspace(dir)
      return [
        ...fileTools(workspace),
        ...gitTools(workspace),
        ...thinkTools(),
        ...web.tools(),
        ...shells.tools(workspace),
        ...within(dir, mine),
      ]
    },
    { workspace: () => temporaryWorkspace(shells.root), prepare: (dir, { name }) => (git.has(name) ? makeRepository(dir) : undefined) },
  )
}

/** Own tools that run with a folder as the process's own: it is made for their example, and not the person's. */
function within(dir: string, tools: readonly Tool[]): readonly Tool[] {
  // Never back to the person's: a tool that was cut off may go on.
  const leave = (): void => process.chdir(tmpdir())
  leave()
  return wrapTools(tools, async (run, input, ctx) => {
    process.chdir(dir)
    inside = dir
    try {
      return await run(input, ctx)
    } finally {
      if (inside === dir) leave()
    }
  })
}

/** The folder that was gone to last: one tool may still be at work when the next one has begun. */
let inside: string | undefined

const tableOf = ({ tools }: ConformanceReport): string[] =>
  table([
    ['TOOL', 'FOUND', 'EMPTY', 'WRONG', 'FAILING', 'CONFORMS'],
    ...tools.map(({ tool, behaviour, conforms }) =>
      [tool, behaviour.found, behaviour.empty, behaviour.wrong, behaviour.failing, conforms ? 'yes' : 'NO'].map((cell) =>
        oneLine(cell, 60),
      ),
    ),
  ])

const faultLines = ({ tools }: ConformanceReport, { red }: Colors): string[] =>
  tools.flatMap((report) => faultsOf(report).map((fault) => `${red('✗')} ${oneLine(report.tool, 64)}: ${fault}`))

const faultsOf = ({ checks }: ToolReport): string[] =>
  checks.filter(({ outcome }) => outcome === 'fail').map(({ check, why }) => `${check}${why ? `: ${oneLine(why, 400)}` : ''}`)
