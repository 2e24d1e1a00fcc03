/** One tool to check. Runs that several checks need are made only once. */
import type { Tool } from '@mulligan/core'
import { type ToolExample, validateJson } from '@mulligan/core/executor'
import { inScene, type Observed, type Scene, type SceneOptions } from './scene.ts'

type Files = Readonly<Record<string, string>>

export interface Run {
  readonly observed: Observed
  /** The example that was run, if any. */
  readonly example?: ToolExample
  /** The wrong input that was tried, if any. */
  readonly probe?: TypeProbe
  readonly files: Files
  /** The call that the hint suggests, made unchanged in the same workspace. */
  readonly followed?: Observed
}

export type Subject = ReturnType<typeof subjectOf>

export interface SubjectOptions extends SceneOptions {
  readonly external: 'skip' | 'run'
  /** Changes can be seen: the tools are made for the workspace, or the workspace is theirs. */
  readonly watchable: boolean
  /** Names of the tools whose effect is `external`. */
  readonly externals: ReadonlySet<string>
}

export function subjectOf(tool: Tool, options: SubjectOptions) {
  const { watchable, pace } = options
  const mayRun = (name: string): boolean => options.external === 'run' || !options.externals.has(name)
  /** Why an example may not be run; undefined if it may. */
  const barred = ({ outcome }: ToolExample): string | undefined =>
    outcome === 'retry' || mayRun(tool.name) ? undefined : 'it would leave this machine'
  /** The first `ok` example that may be run. */
  const right = tool.examples.find((example) => example.outcome === 'ok' && !barred(example))
  const rightFiles = tool.examples.find(({ outcome }) => outcome === 'ok')?.files ?? {}

  /** Makes the calls that the example continues from, in the same workspace. */
  const after = <T>(example: ToolExample | undefined, files: Files, use: (scene: Scene) => Promise<T>): Promise<T> =>
    inScene(options, files, async (scene) => {
      for (const { tool, input } of example?.first ?? []) await scene.call(tool, input)
      return use(scene)
    })
  const scene = <T>(files: Files, use: (scene: Scene) => Promise<T>): Promise<T> => after(right, files, use)

  const run = (input: unknown, files: Files, example?: ToolExample): Promise<Run> =>
    after(example ?? right, files, async ({ call }) => {
      const observed = await call(tool.name, input)
      const { result } = observed.record
      const suggested = result.ok || result.status !== 'retry' ? undefined : result.details?.call
      const followed = suggested && mayRun(suggested.tool) ? await call(suggested.tool, suggested.input) : undefined
      return { observed, files, ...(example && { example }), ...(followed && { followed }) }
    })

  async function probeType(probe: TypeProbe): Promise<Run | undefined> {
    for (const input of probe.inputs) {
      const observed = await scene(rightFiles, ({ call }) => call(tool.name, input, { blocked: !mayRun(tool.name) }))
      if (observed.record.repairs.length === 0) return { probe, observed, files: {} }
    }
    return undefined
  }

  return {
    tool,
    watchable,
    pace,
    barred,
    right,
    scene,
    /** Runs of the examples that may be run. */
    examples: inOrder(tool.examples, async (one) => (barred(one) ? undefined : run(one.input, one.files ?? {}, one))),
    /** Runs with values of the right type that name nothing. */
    oddValues: inOrder(right ? oddInputs(tool) : [], (input) => run(input, rightFiles)),
    /** Runs with missing parameters and with wrong types. */
    wrongTypes: inOrder(typeProbes(tool), probeType),
  }
}

/** Runs once, when first called, and one after another, because tools given as a list may share state. */
function inOrder<T>(items: readonly T[], use: (item: T) => Promise<Run | undefined>): () => Promise<readonly Run[]> {
  let made: Promise<readonly Run[]> | undefined
  const make = async (): Promise<readonly Run[]> => {
    const runs: Run[] = []
    for (const item of items) {
      const run = await use(item)
      if (run) runs.push(run)
    }
    return runs
  }
  return () => {
    made ??= make()
    return made
  }
}

type Input = Readonly<Record<string, unknown>>

/** A wrong input, made from a correct one. */
export interface TypeProbe {
  readonly parameter: string
  readonly how: 'missing' | 'of a wrong type'
  /** Tried in order until the engine does not repair one. */
  readonly inputs: readonly Input[]
}

const KINDS: readonly unknown[] = [{ unexpected: true }, [{ unexpected: true }], 'unexpected', true, 7.5]

/** The input of the first `ok` example. */
const rightInput = (tool: Tool): Input => tool.examples.find(({ outcome }) => outcome === 'ok')?.input ?? {}

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

export const parameters = (tool: Tool): string[] => Object.keys(record(tool.inputSchema['properties']))

/** Each required parameter omitted, and with a value of a wrong type. */
function typeProbes(tool: Tool): TypeProbe[] {
  const { inputSchema } = tool
  const { required, properties } = inputSchema
  const right = rightInput(tool)
  if (!Array.isArray(required)) return []
  return required.flatMap((parameter: string): TypeProbe[] => {
    const { [parameter]: _, ...rest } = right
    const wrong = KINDS.filter((kind) => validateJson(record(record(properties)[parameter]), kind, inputSchema).length > 0)
    const inputs = wrong.map((value) => ({ ...right, [parameter]: value }))
    const probes: TypeProbe[] = [{ parameter, how: 'missing', inputs: [rest] }]
    return inputs.length === 0 ? probes : [...probes, { parameter, how: 'of a wrong type', inputs }]
  })
}

/** Texts that name nothing, can't be parsed, or can't be a name. None leads outside a workspace. */
const ODD_TEXTS = ['no-such-thing-7f3a', '[(', '\0']

/** The correct input with one text replaced by an odd one. */
function oddInputs(tool: Tool): Input[] {
  const right = rightInput(tool)
  const keys = Object.keys(right).filter((key) => typeof right[key] === 'string')
  return keys.flatMap((key) => ODD_TEXTS.map((text) => ({ ...right, [key]: text })))
}
