import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { configJsonSchema } from '../packages/host/src/config/json-schema.ts'
import { parseJsonc } from '../packages/host/src/config/jsonc.ts'
import { starter } from '../packages/host/src/config/starter.ts'
import { PAGE, pageWithKeys, SCHEMA_FILE } from './config-reference.ts'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
const RUN = 'run: node scripts/config-reference.ts'

it('the JSON Schema that is published is the one of the keys', () => {
  expect(JSON.parse(read(SCHEMA_FILE)), RUN).toEqual(configJsonSchema())
})

it('docs/configuration.md has the keys as they are', () => {
  const page = read(PAGE)
  expect(page, RUN).toBe(pageWithKeys(page))
})

it('the schema takes what we take, and notices a slip', () => {
  const { $id: _, ...schema } = JSON.parse(read(SCHEMA_FILE)) as Record<string, unknown>
  const check = new Ajv({ strict: false, formats: { uri: true } }).compile(schema)
  const fine = parseJsonc(starter().replace(/^( {2})\/\/ ("|\})/gm, '$1$2'))
  expect(fine).toMatchObject({ ok: true, value: { model: 'ollama/NAME', policy: [{}] } })
  expect([check(fine.ok && fine.value), check.errors]).toEqual([true, null])
  for (const wrong of [{ modell: 'x' }, { limits: { requests: 0 } }, { mode: 'yolo' }, { sandbox: { memory: 'lots' } }])
    expect([wrong, check(wrong)]).toEqual([wrong, false])
})
