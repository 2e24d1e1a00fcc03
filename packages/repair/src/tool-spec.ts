/** What repair has to know of a tool. */
import type { Named } from './name.ts'
import type { Effect, RepairLevel } from './repair.ts'
import type { JsonSchema } from './schema/json-schema.ts'

/** A tool as a model is told of it. Tools of the contract and of most SDKs can be handed over nearly as they are. */
export interface ToolSpec extends Named {
  /** JSON Schema of the input, an object. Absent: no parameters are known. */
  readonly parameters?: JsonSchema
  /** Default `external`. */
  readonly effect?: Effect
  /** Default: `full` for reads, `safe` otherwise. */
  readonly repair?: RepairLevel
  /** Other names of parameters: `{ path: ['file', 'filePath'] }`. */
  readonly parameterAliases?: Readonly<Record<string, readonly string[]>>
}
