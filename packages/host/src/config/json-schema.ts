/** The JSON Schema of a configuration file, for editors, the docs, shell completion and variable names. */
import { z } from 'zod'
import { memoize } from '../common/memoize.ts'
import type { SchemaNode } from './keys.ts'
import { configSchema } from './schema.ts'

/** URL that the schema is published at. `$schema` in a file refers to it. */
export const SCHEMA_URL = 'https://unpkg.com/mulligan/mulligan.schema.json'

/** The schema, as draft 7, which editors support best. */
export const configJsonSchema = memoize(
  () =>
    ({
      $id: SCHEMA_URL,
      title: 'The configuration of Mulligan',
      ...z.toJSONSchema(configSchema(), { target: 'draft-7', unrepresentable: 'any', io: 'input' }),
    }) as SchemaNode,
)
