/** The JSON Schema of a configuration file, for editors, the docs, shell completion and variable names. */

import { z } from 'zod'
import { memoize } from '../common/memoize.ts'
import type { SchemaNode } from './keys.ts'
import { configSchema } from './schema.ts'
import { SCHEMA_URL } from './schema-url.ts'

/** Draft 7, which editors know best. */
export const configJsonSchema = memoize(
  () =>
    ({
      $id: SCHEMA_URL,
      title: 'The configuration of Mulligan',
      ...z.toJSONSchema(configSchema(), { target: 'draft-7', unrepresentable: 'any', io: 'input' }),
    }) as SchemaNode,
)
