/** Describes a tool for repair. */
import type { Named } from './name.ts'
import type { Effect, RepairLevel } from './repair.ts'
import type { JsonSchema } from './schema/types.ts'

/** A tool as described to a model. Tools of the contract and of most SDKs fit almost unchanged. */
export interface ToolSpec extends Named {
  /** JSON Schema of the input object. If absent, no parameters are known. */
  readonly parameters?: JsonSchema
  /** Default `external`. */
  readonly effect?: Effect
  /** Default: `full` for reads, `safe` otherwise. */
  readonly repair?: RepairLevel
  /** Other names of parameters: `{ path: ['file', 'filePath'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** Names, ignoring case and separators, of parameters that may be present but have no meaning here. */
  readonly ignoredParameters?: readonly string[]
}
