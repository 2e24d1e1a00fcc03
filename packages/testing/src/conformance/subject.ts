/** One tool under examination. What several checks look at is observed once. */
import type { Tool, ToolExample } from '@mulligan/core'
import { oddInputs, type TypeProbe, typeProbes } from './probes.ts'
import { inScene, type Observed, type Scene, type SceneOptions } from './scene.ts'

export interface Run {
  readonly observed: Observed
  /** The example it is, when it is one. */
  readonly example?: ToolExample
  readonly files: Readonly<Record<string, string>>
  /** The call that its hint suggests, issued as it is in the same workspace. */
  readonly followed?: Observed
}

export interface TypeRun {
  readonly probe: TypeProbe
  readonly observed: Observed
}

export interface Subject {
  readonly tool: Tool
  /** Changes can be seen: the tools are made for the workspace, or the workspace is theirs. */
  readonly watchable: boolean
  /** Milliseconds. */
  readonly timeoutMs: number
  readonly graceMs: number
  /** Why an example may not be run; undefined when it may. */
  readonly barred: (example: ToolExample) => string | undefined
  /** The first `ok` example that may be run. */
  readonly right: ToolExample | undefined
  readonly scene: <T>(files: Readonly<Record<string, string>>, use: (scene: Scene) => Promise<T>) => Promise<T>
  /** The examples that may be run. */
  readonly examples: () => Promise<readonly Run[]>
  /** Right types, odd values. */
  readonly oddValues: () => Promise<readonly Run[]>
  readonly wrongTypes: () => Promise<readonly TypeRun[]>
}

export interface SubjectOptions extends SceneOptions {
  readonly external: 'skip' | 'run'
  readonly watchable: boolean
  /** Names of the tools that leave the machine. */
  readonly externals: ReadonlySet<string>
}

export function subjectOf(tool: Tool, options: SubjectOptions): Subject {
  const quiet = (name: string): boolean => options.external === 'run' || !options.externals.has(name)
  const barred = ({ outcome }: ToolExample): string | undefined =>
    outcome === 'retry' || quiet(tool.name) ? undefined : 'it would leave this machine'
  const right = tool.examples.find((example) => example.outcome === 'ok' && !barred(example))
  const rightFiles = tool.examples.find(({ outcome }) => outcome === 'ok')?.files ?? {}

  /** In a session in which the calls have been made that the example continues from. */
  const after = <T>(
    first: ToolExample['first'] = [],
    files: Readonly<Record<string, string>>,
    use: (scene: Scene) => Promise<T>,
  ): Promise<T> =>
    inScene(options, files, async (scene) => {
      for (const { tool, input } of first) await scene.call(tool, input)
      return use(scene)
    })
  const scene: Subject['scene'] = (files, use) => after(right?.first, files, use)

  const run = (input: unknown, files: Readonly<Record<string, string>>, example?: ToolExample): Promise<Run> =>
    after((example ?? right)?.first, files, async ({ call }) => {
      const observed = await call(tool.name, input)
      const { result } = observed.record
      const suggested = result.ok || result.status !== 'retry' ? undefined : result.details?.call
      const followed = suggested && quiet(suggested.tool) ? await call(suggested.tool, suggested.input) : undefined
      return { observed, files, ...(example && { example }), ...(followed && { followed }) }
    })

  async function probeType(probe: TypeProbe): Promise<TypeRun | undefined> {
    for (const input of probe.inputs) {
      const observed = await scene(rightFiles, ({ call }) => call(tool.name, input, { blocked: !quiet(tool.name) }))
      if (observed.record.repairs.length === 0) return { probe, observed }
    }
    return undefined
  }

  return {
    tool,
    watchable: options.watchable,
    timeoutMs: options.timeoutMs,
    graceMs: options.graceMs,
    barred,
    right,
    scene,
    examples: once(() => inOrder(tool.examples, (one) => (barred(one) ? undefined : run(one.input, one.files ?? {}, one)))),
    oddValues: once(() => inOrder(right ? oddInputs(tool) : [], (input) => run(input, rightFiles))),
    wrongTypes: once(() => inOrder(typeProbes(tool), probeType)),
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** One after another, because tools given as a list may share state. */
async function inOrder<T, R>(items: readonly T[], use: (item: T) => Promise<R | undefined> | undefined): Promise<R[]> {
  const done: R[] = []
  for (const item of items) {
    const one = await use(item)
    if (one !== undefined) done.push(one)
  }
  return done
}
