/** What repair needs to know about a tool. */
import type { Named } from './name.ts'
import type { Effect, RepairLevel } from './repair.ts'
import type { JsonSchema } from './schema/json-schema.ts'

/** A tool as it is described to a model. Tools of the contract and of most SDKs fit nearly as they are. */
export interface ToolSpec extends Named {
  /** JSON Schema of the input, an object. Absent: no parameters are known. */
  readonly parameters?: JsonSchema
  /** Default `external`. */
  readonly effect?: Effect
  /** Default: `full` for reads, `safe` otherwise. */
  readonly repair?: RepairLevel
  /** Other names of parameters: `{ path: ['file', 'filePath'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
  /** Names, without regard to case and separators, of parameters that may come and say nothing here. */
  readonly ignoredParameters?: readonly string[]
}
