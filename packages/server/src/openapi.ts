/** The OpenAPI 3.1 document, made from the contract. */
import { z } from 'zod'
import { CONTRACT, type Endpoint } from './contract.ts'

const json = (schema: z.ZodType, io: 'input' | 'output') => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return { content: { 'application/json': { schema: made } } }
}

const ERROR = z.object({ error: z.object({ type: z.string(), message: z.string(), hint: z.string().optional() }) })

function parametersOf(path: string, { query }: Endpoint, method: string) {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { $schema: _, ...made } = z.toJSONSchema(schema as z.ZodType, { io: 'output', unrepresentable: 'any' })
    return { name, in: 'query', required: !(schema as z.ZodType).safeParse(undefined).success, schema: made }
  })
  const key =
    method === 'POST' ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 200 } }] : []
  return [...inPath, ...inQuery, ...key]
}

function operation(route: string, endpoint: Endpoint): readonly [path: string, method: string, object] {
  const [method = '', path = ''] = route.split(' ')
  const { summary, body, status, response, stream } = endpoint
  const ok = response ? json(response, 'input') : stream === undefined ? {} : { content: { [stream]: { schema: { type: 'string' } } } }
  return [
    path.replace(/:(\w+)/g, '{$1}'),
    method.toLowerCase(),
    {
      summary,
      operationId: `${method.toLowerCase()}${path.replace(/[^a-zA-Z]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
      parameters: parametersOf(path, endpoint, method),
      ...(body && { requestBody: { required: true, ...json(body, 'input') } }),
      responses: { [status]: { description: summary, ...ok }, default: { description: 'An error', ...json(ERROR, 'input') } },
    },
  ]
}

export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [route, endpoint] of Object.entries(CONTRACT)) {
    const [path, method, one] = operation(route, endpoint)
    paths[path] = { ...paths[path], [method]: one }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Mulligan', version, description: 'Sessions of an agent, their events, and approvals that wait.' },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}
