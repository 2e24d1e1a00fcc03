/** The JSON Schema of a configuration file, for editors, the docs, shell completion and variable names. */
import { z } from 'zod'
import { memoize } from '../common/memoize.ts'
import type { SchemaNode } from './keys.ts'
import { configSchema } from './schema.ts'

/** The file of the schema in the package. */
const SCHEMA_FILE = 'mulligan.schema.json'

/** The schema, as draft 7, which editors support best. */
export const configJsonSchema = memoize(
  () =>
    ({
      $id: SCHEMA_FILE,
      title: 'The configuration of Mulligan',
      ...z.toJSONSchema(configSchema(), { target: 'draft-7', unrepresentable: 'any', io: 'input' }),
    }) as SchemaNode,
)
