/** What the turns of a folder share: its tools and their sandbox, the log, the approvals. Opened once, for one turn or for a whole chat. */
import { join } from 'node:path'
import { type Agent, type AgentEvent, createAgent, type Store } from '@mulligan/agent'
import type { Tool } from '@mulligan/core'
import type { Sandbox } from '@mulligan/sandbox'
import { createSpill } from '@mulligan/tools'
import { type NamedAgent, roleOf, unknownTools } from './agents/agents.ts'
import { projectInstructions } from './agents/instructions.ts'
import { projectSkills } from './agents/skills.ts'
import { openApproval } from './approval/open.ts'
import { recoverChanges } from './changes.ts'
import { limitsOf, type Settings } from './config/settings.ts'
import { fileLog } from './log.ts'
import type { ConfiguredModel } from './models/open.ts'
import { type DataPaths, fromHome } from './paths.ts'
import { sandboxLine } from './sandbox.ts'
import { sessionTools } from './session-tools.ts'
import { watchStray } from './stray.ts'
import { openTelemetry } from './telemetry/open-telemetry.ts'
import { openToolbox, problemText, type Toolbox } from './toolbox.ts'
import type { Ask } from './ui/ask.ts'
import type { Colors } from './ui/colors.ts'
import type { Output } from './ui/output.ts'
import { oneLine } from './ui/sanitize.ts'
import { version } from './version.ts'

export interface WorkbenchOptions {
  readonly cwd: string
  readonly settings: Settings
  readonly data: DataPaths
  readonly store: Store
  /** The session that is gone on with; a new one has its id from its first turn. */
  readonly session: string | undefined
  readonly output: Output
  /** Absent when nobody is there to be asked. */
  readonly ask?: Ask
  /** Of stderr. */
  readonly colors: Colors
  readonly onEvent: (event: AgentEvent) => void
  /** Told once, when the first command has opened the sandbox; a line about it goes to stderr all the same. */
  readonly onSandbox?: (sandbox: Sandbox) => void
}

/** What may change from turn to turn. */
export interface AgentChoice {
  readonly settings: Settings
  readonly named: NamedAgent
  readonly configured: ConfiguredModel
  /** `--yes` */
  readonly yes: boolean
  /** False with `--no-agents-md`. */
  readonly agentsMd: boolean
}

export interface Workbench {
  readonly tools: readonly Tool[]
  readonly ignored: Toolbox['ignored']
  readonly agent: (choice: AgentChoice) => Agent
  /** Ends the commands that still run, and closes the sandbox. */
  readonly close: () => Promise<void>
}

/** Says on stderr what was left out, and what was put right. @throws UsageError */
export async function openWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const { cwd, settings, data, store, output, colors } = options
  const person = options.ask ? { ask: options.ask } : {}
  let session = options.session
  const outputDir = (): string => join(data.output, session ?? 'new')
  const log = fileLog(data.log)
  const unwatch = watchStray(log, () => output.err(`Something failed outside every call; see ${fromHome(data.log)}\n`))
  const telemetry = openTelemetry(process.env, { version: version(), tell: (line) => output.err(`${oneLine(line, 300)}\n`) })
  await recoverChanges(cwd, data, output)
  const toolbox = await openToolbox(cwd, {
    outputs: {
      get dir() {
        return outputDir()
      },
    },
    settings,
    changes: { dir: data.changes },
    onSandbox: (sandbox) => {
      output.err(`${sandboxLine(sandbox)}\n`)
      options.onSandbox?.(sandbox)
    },
    session: sessionTools({ folder: data.state, id: () => session ?? 'new', ...person }),
  })
  const { skills, problems } = await projectSkills(cwd)
  const told = [...problems]
  projectInstructions(cwd, (problem) => told.push(problem))
  const left = [...toolbox.problems.map(problemText), ...told.map(({ file, error }) => oneLine(`${file}: ${error}`, 400))]
  for (const problem of left) output.err(`Left out: ${problem}\n`)

  function agent({ settings, named, configured, yes, agentsMd }: AgentChoice): Agent {
    for (const warning of unknownTools([named], settings, toolbox.tools)) output.err(`${warning}\n`)
    const approval = openApproval({ settings, cwd, tools: toolbox.tools, yes, colors, ...person, tell: (line) => output.err(line) })
    return createAgent({
      model: configured.model,
      tools: toolbox.tools,
      store,
      cwd,
      role: roleOf(named, settings.off),
      ...(settings.lean && { lean: settings.lean.value }),
      ...(agentsMd && { instructions: () => projectInstructions(cwd) }),
      skills: () => skills,
      limits: limitsOf(settings),
      spill: (text, callId) => createSpill(outputDir())(text, callId),
      policy: approval.policy,
      approve: approval.approve,
      onEvent: (event) => {
        // A new session has its id from here, before any of its calls.
        if (event.type === 'turn.started') session = event.sessionId
        telemetry?.event(event)
        options.onEvent(event)
      },
      log,
      secrets: configured.secrets,
    })
  }

  return {
    tools: toolbox.tools,
    ignored: toolbox.ignored,
    agent,
    close: async () => {
      await toolbox.close()
      await telemetry?.close()
      unwatch()
    },
  }
}
