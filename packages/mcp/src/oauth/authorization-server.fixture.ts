/**
 * An MCP server that wants a login, and a strict authorization server at an origin of its own: exact redirect addresses, PKCE with S256,
 * codes and refresh tokens that count once, and tokens that count for one resource.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

export interface Faults {
  /** The issuer that the answer names. */
  iss?: string
  /** The issuer that the metadata names. */
  issuer?: string
  /** What the person does. */
  denies?: boolean
  /** Seconds that a token counts. */
  lifetime?: number
  /** The scope that calls need. */
  needs?: string
  /** The authorization server has lost everything. */
  isDown?: boolean
}

export interface LoginFixture extends AsyncDisposable {
  readonly url: string
  readonly issuer: string
  readonly faults: Faults
  /** What was asked of the authorization server. */
  readonly requests: string[]
  /** The values of `Authorization` that the MCP server got. */
  readonly seen: string[]
  /** Makes all access tokens expire. */
  readonly expire: () => void
  /** What a person's browser does with the address of the login. @returns where it ends */
  readonly browse: (address: URL) => Promise<string>
}

interface Grant {
  readonly client: string
  readonly redirect: string
  readonly challenge: string
  readonly resource: string
  readonly scope: string
}

async function listening(handler: RequestListener): Promise<{ server: Server; origin: string }> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

function notes(): McpServer {
  const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
  mcp.registerTool('list_notes', { description: 'Lists notes.', inputSchema: z.object({}) }, (_, { http }) => ({
    content: [{ type: 'text', text: `two notes ${http?.req?.headers.get('authorization') ?? ''}` }],
  }))
  return mcp
}

export async function loginFixture(): Promise<LoginFixture> {
  const faults: Faults = {}
  const requests: string[] = []
  const seen: string[] = []
  const clients = new Map<string, readonly string[]>()
  const codes = new Map<string, Grant>()
  const refreshable = new Map<string, Grant>()
  const access = new Map<string, Grant>()
  const json = (response: ServerResponse, status: number, value: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

  const handle = toNodeHandler(createMcpHandler(notes)) as RequestListener
  const mcp = await listening((request, response) => {
    const url = new URL(request.url ?? '', mcp.origin)
    const resource = `${mcp.origin}/mcp`
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, 200, { resource, authorization_servers: [authorization.origin], scopes_supported: ['notes'] })
    if (url.pathname !== '/mcp') return json(response, 404, {})
    const { authorization: header = '' } = request.headers
    seen.push(header)
    const grant = access.get(header.replace(/^Bearer /, ''))
    const metadata = `resource_metadata="${mcp.origin}/.well-known/oauth-protected-resource/mcp"`
    if (grant?.resource !== resource) return response.writeHead(401, { 'www-authenticate': `Bearer ${metadata}` }).end()
    if (faults.needs !== undefined && !grant.scope.split(' ').includes(faults.needs))
      return response
        .writeHead(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${faults.needs}", ${metadata}` })
        .end()
    handle(request, response)
  })

  const authorization = await listening((request, response) => void authorize(request, response))
  async function authorize(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', authorization.origin)
    const text = await bodyOf(request)
    requests.push(url.pathname)
    if (faults.isDown) return json(response, 503, {})
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: faults.issuer ?? authorization.origin,
          authorization_endpoint: `${authorization.origin}/authorize`,
          token_endpoint: `${authorization.origin}/token`,
          registration_endpoint: `${authorization.origin}/register`,
          revocation_endpoint: `${authorization.origin}/revoke`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        })
      case '/register': {
        const client = JSON.parse(text) as { redirect_uris: readonly string[] }
        const id = randomUUID()
        clients.set(id, client.redirect_uris)
        return json(response, 201, { ...client, client_id: id })
      }
      case '/authorize': {
        const of = (name: string): string => url.searchParams.get(name) ?? ''
        const redirect = of('redirect_uri')
        const isRight =
          of('response_type') === 'code' &&
          clients.get(of('client_id'))?.includes(redirect) === true &&
          of('code_challenge_method') === 'S256' &&
          of('code_challenge').length === 43 &&
          of('state').length > 20 &&
          of('resource') === `${mcp.origin}/mcp`
        if (!isRight) return json(response, 400, { error: 'invalid_request' })
        const to = new URL(redirect)
        to.searchParams.set('state', of('state'))
        to.searchParams.set('iss', faults.iss ?? authorization.origin)
        if (faults.denies) {
          to.searchParams.set('error', 'access_denied')
          to.searchParams.set('error_description', 'The person said no.')
        } else {
          const code = randomUUID()
          codes.set(code, {
            ...{ client: of('client_id'), redirect, challenge: of('code_challenge'), resource: of('resource'), scope: of('scope') },
          })
          to.searchParams.set('code', code)
        }
        return void response.writeHead(302, { location: to.href }).end()
      }
      case '/token': {
        const form = new URLSearchParams(text)
        const kind = form.get('grant_type')
        requests.push(String(kind))
        const given = form.get(kind === 'refresh_token' ? 'refresh_token' : 'code') ?? ''
        const grants = kind === 'refresh_token' ? refreshable : codes
        const grant = grants.get(given)
        grants.delete(given)
        const isRight =
          grant?.client === form.get('client_id') &&
          grant?.resource === form.get('resource') &&
          (kind === 'refresh_token' ||
            (grant?.redirect === form.get('redirect_uri') &&
              grant?.challenge ===
                createHash('sha256')
                  .update(form.get('code_verifier') ?? '')
                  .digest('base64url')))
        if (!grant || !isRight) return json(response, 400, { error: 'invalid_grant', error_description: `${given} does not count` })
        const [token, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`]
        access.set(token, grant)
        refreshable.set(refresh, grant)
        return json(response, 200, {
          ...{ access_token: token, token_type: 'Bearer', refresh_token: refresh, scope: grant.scope },
          expires_in: faults.lifetime ?? 3600,
        })
      }
      case '/revoke':
        refreshable.delete(new URLSearchParams(text).get('token') ?? '')
        return json(response, 200, {})
      default:
        return json(response, 404, {})
    }
  }

  return {
    ...{ url: `${mcp.origin}/mcp`, issuer: authorization.origin, faults, requests, seen },
    expire: () => access.clear(),
    async browse(address) {
      const response = await fetch(address)
      return `${response.status} ${await response.text()}`
    },
    async [Symbol.asyncDispose]() {
      for (const { server } of [mcp, authorization]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}
