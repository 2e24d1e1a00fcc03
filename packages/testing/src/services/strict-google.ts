/** Google Drive, Gmail and Calendar as far as the assistant's tools use them, as strict as the originals. */
import { type Service, type ServiceAnswer, type ServiceOptions, type ServiceRequest, startService } from './service.ts'
import { authorization, type TokenIssuer } from './strict-oauth.ts'

export interface GoogleFile {
  readonly id: string
  readonly name: string
  readonly mimeType: string
  readonly text?: string
  readonly modifiedTime?: string
}

export interface GoogleMessage {
  readonly id: string
  readonly threadId: string
  readonly labelIds: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
  readonly headers: Readonly<Record<string, string>>
  readonly text?: string
  readonly html?: string
  readonly attachments?: readonly { readonly name: string; readonly type: string; readonly bytes: number }[]
}

/** An event in the form of the service. */
export type GoogleEvent = Readonly<Record<string, unknown>> & { readonly id: string }

export interface StrictGoogleOptions extends ServiceOptions {
  /** An access token that is valid. Those of {@link StrictGoogle.issuer} are valid too. Default: `ya29.test`. */
  readonly token?: string
  readonly files?: readonly GoogleFile[]
  readonly messages?: readonly GoogleMessage[]
  readonly events?: readonly GoogleEvent[]
  /** The calendar's time zone. Default: Europe/Lisbon. */
  readonly timeZone?: string
  /** Number of look-ups that don't show a new draft yet. Default 0. */
  readonly hiddenReads?: number
}

export interface StrictGoogle extends Service {
  /** Its authorization server, at the same address. */
  readonly issuer: TokenIssuer
  /** Drafts that exist. */
  readonly drafts: () => readonly { readonly id: string; readonly message: GoogleMessage }[]
  /** Everything that was sent, in order. */
  readonly sent: readonly GoogleMessage[]
  /** Everything that was created in the calendar, in order. */
  readonly created: readonly GoogleEvent[]
}

type Params = Readonly<Record<string, string>>
interface Asked {
  readonly id: string
  readonly query: Params
  readonly all: (name: string) => readonly string[]
  readonly body: Readonly<Record<string, unknown>>
}
interface Route {
  readonly method: string
  readonly path: RegExp
  /** Query parameters that the service knows. */
  readonly takes: readonly string[]
  readonly run: (asked: Asked) => ServiceAnswer
}

/** An error in the older form of Google's APIs. */
const fail = (status: number, reason: string, message = reason): ServiceAnswer => ({
  status,
  body: { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } },
})
const found = (body: unknown): ServiceAnswer => ({ body })

/**
 * Starts a strict Google.
 *
 * @example
 * await using google = await strictGoogle({ files: [{ id: 'f1', name: 'Plan', mimeType: 'text/plain', text: 'Ship it.' }] })
 */
export async function strictGoogle(options: StrictGoogleOptions = {}): Promise<StrictGoogle> {
  const { token = 'ya29.test', files = [], timeZone = 'Europe/Lisbon', hiddenReads = 0 } = options
  const messages: GoogleMessage[] = [...(options.messages ?? [])]
  const drafts = new Map<string, GoogleMessage>()
  const hidden = new Map<string, number>()
  const sent: GoogleMessage[] = []
  const events: GoogleEvent[] = [...(options.events ?? [])]
  const created: GoogleEvent[] = []
  let count = 0
  const newId = (): string => `1a${String(++count).padStart(14, '0')}`
  const latest = (all: readonly GoogleMessage[]) => all.toSorted((a, b) => b.at - a.at)

  function messageOf(raw: unknown, threadId: unknown): GoogleMessage | undefined {
    if (typeof raw !== 'string' || !/^[\w-]+=*$/.test(raw)) return undefined
    const [head = '', ...rest] = Buffer.from(raw, 'base64url').toString('utf8').split('\r\n\r\n')
    const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')), decodedWords(line.slice(line.indexOf(':') + 1).trim())]),
    )
    const body = rest.join('\r\n\r\n')
    const encoding = headers['Content-Transfer-Encoding']
    const text =
      encoding === 'base64' ? Buffer.from(body, 'base64').toString('utf8') : encoding === 'quoted-printable' ? unquoted(body) : body
    return { id: newId(), threadId: typeof threadId === 'string' ? threadId : newId(), labelIds: ['DRAFT'], at: Date.now(), headers, text }
  }

  const ROUTES: readonly Route[] = [
    {
      method: 'GET',
      path: /^\/drive\/v3\/files$/,
      takes: ['q', 'pageSize', 'pageToken', 'fields', 'corpora', 'includeItemsFromAllDrives', 'supportsAllDrives'],
      run: ({ query: { q = '', pageSize = '100', pageToken } }) => {
        const words = wordsOf(q)
        if (words === undefined) return fail(400, 'invalid', 'Invalid Value')
        const from = pageToken === undefined ? 0 : Number(/^~(\d+)$/.exec(pageToken)?.[1] ?? Number.NaN)
        if (Number.isNaN(from)) return fail(400, 'invalid', 'Invalid Value: pageToken')
        const rows = files.filter(({ name, text = '' }) => `${name} ${text}`.toLowerCase().includes(words.toLowerCase()))
        const to = from + Number(pageSize)
        return found({ files: rows.slice(from, to).map(fileRow), ...(to < rows.length && { nextPageToken: `~${to}` }) })
      },
    },
    {
      method: 'GET',
      path: /^\/drive\/v3\/files\/([^/]+)$/,
      takes: ['fields', 'alt', 'supportsAllDrives'],
      run: ({ id, query }) => {
        const file = files.find((one) => one.id === id)
        if (!file) return fail(404, 'notFound', `File not found: ${id}.`)
        if (query['alt'] !== 'media') return found(fileRow(file))
        if (file.mimeType.startsWith('application/vnd.google-apps.'))
          return fail(403, 'fileNotDownloadable', 'Use Export with Docs Editors files.')
        return found(file.text ?? '')
      },
    },
    {
      method: 'GET',
      path: /^\/drive\/v3\/files\/([^/]+)\/export$/,
      takes: ['mimeType'],
      run: ({ id }) => {
        const file = files.find((one) => one.id === id)
        return file ? found(file.text ?? '') : fail(404, 'notFound', `File not found: ${id}.`)
      },
    },
    {
      method: 'GET',
      path: /^\/gmail\/v1\/users\/me\/messages$/,
      takes: ['maxResults', 'labelIds', 'q', 'pageToken'],
      run: ({ query: { maxResults = '100', q, pageToken = '~0' }, all }) => {
        const from = Number(/^~(\d+)$/.exec(pageToken)?.[1] ?? Number.NaN)
        if (Number.isNaN(from)) return fail(400, 'invalidArgument', 'Invalid pageToken')
        const labels = all('labelIds')
        const rows = latest(messages)
          .filter(({ labelIds }) => labels.every((label) => labelIds.includes(label)))
          .filter(
            ({ headers, text = '' }) =>
              q === undefined || `${Object.values(headers).join(' ')} ${text}`.toLowerCase().includes(q.toLowerCase()),
          )
        const to = from + Number(maxResults)
        const shown = rows.slice(from, to)
        return found({
          ...(shown.length > 0 && { messages: shown.map(({ id, threadId }) => ({ id, threadId })) }),
          ...(to < rows.length && { nextPageToken: `~${to}` }),
          resultSizeEstimate: rows.length,
        })
      },
    },
    {
      method: 'GET',
      path: /^\/gmail\/v1\/users\/me\/messages\/([^/]+)$/,
      takes: ['format', 'metadataHeaders'],
      run: ({ id, query }) => {
        if (!/^[0-9a-f]{1,16}$/.test(id)) return fail(400, 'invalidArgument', 'Invalid id value')
        const message = messages.find((one) => one.id === id)
        return message ? found(messageRow(message, query['format'])) : fail(404, 'notFound', 'Requested entity was not found.')
      },
    },
    {
      method: 'POST',
      path: /^\/gmail\/v1\/users\/me\/drafts$/,
      takes: [],
      run: ({ body }) => {
        const { raw, threadId } = (body['message'] ?? {}) as Readonly<Record<string, unknown>>
        const message = messageOf(raw, threadId)
        if (!message) return fail(400, 'invalidArgument', 'Missing draft message')
        const id = `r${newId()}`
        drafts.set(id, message)
        hidden.set(id, hiddenReads)
        return found({ id, message: { id: message.id, threadId: message.threadId, labelIds: message.labelIds } })
      },
    },
    {
      method: 'GET',
      path: /^\/gmail\/v1\/users\/me\/drafts$/,
      takes: ['q', 'maxResults', 'pageToken'],
      run: ({ query: { q } }) => {
        const wanted = q === undefined ? undefined : /^rfc822msgid:(\S+)$/.exec(q)?.[1]
        const rows = [...drafts].filter(([id, { headers }]) => {
          if (wanted === undefined) return true
          const left = hidden.get(id) ?? 0
          hidden.set(id, left - 1)
          return left <= 0 && headers['Message-ID'] === `<${wanted}>`
        })
        return found({
          ...(rows.length > 0 && { drafts: rows.map(([id, { id: message, threadId }]) => ({ id, message: { id: message, threadId } })) }),
        })
      },
    },
    {
      method: 'POST',
      path: /^\/gmail\/v1\/users\/me\/drafts\/send$/,
      takes: [],
      run: ({ body }) => {
        const id = String(body['id'] ?? '')
        const draft = drafts.get(id)
        if (!draft) return fail(404, 'notFound', 'Requested entity was not found.')
        if (!draft.headers['To']) return fail(400, 'invalidArgument', 'Recipient address required')
        drafts.delete(id)
        const message = { ...draft, id: newId(), labelIds: ['SENT'] }
        messages.push(message)
        sent.push(message)
        return found({ id: message.id, threadId: message.threadId, labelIds: message.labelIds })
      },
    },
    {
      method: 'GET',
      path: /^\/gmail\/v1\/users\/me\/drafts\/([^/]+)$/,
      takes: ['format'],
      run: ({ id, query }) => {
        const message = drafts.get(id)
        return message
          ? found({ id, message: messageRow(message, query['format']) })
          : fail(404, 'notFound', 'Requested entity was not found.')
      },
    },
    {
      method: 'GET',
      path: /^\/gmail\/v1\/users\/me\/threads\/([^/]+)$/,
      takes: ['format', 'metadataHeaders'],
      run: ({ id, query }) => {
        const rows = messages.filter(({ threadId }) => threadId === id)
        if (rows.length === 0) return fail(404, 'notFound', 'Requested entity was not found.')
        return found({ id, messages: rows.map((one) => messageRow(one, query['format'])) })
      },
    },
    {
      method: 'GET',
      path: /^\/calendar\/v3\/calendars\/(primary)\/events$/,
      takes: ['timeMin', 'timeMax', 'singleEvents', 'orderBy', 'maxResults', 'q', 'pageToken', 'fields'],
      run: ({ query }) => {
        if (query['orderBy'] === 'startTime' && query['singleEvents'] !== 'true')
          return fail(400, 'badRequest', 'The requested ordering is not available for the particular query.')
        const { timeMin = '1970-01-01T00:00:00Z', timeMax = '9999-01-01T00:00:00Z', q = '', maxResults = '250' } = query
        if (![timeMin, timeMax].every((one) => /(?:Z|[+-]\d\d:\d\d)$/.test(one))) return fail(400, 'badRequest', 'Bad Request')
        const rows = events
          .filter((one) => endOf(one) > Date.parse(timeMin) && startOf(one) < Date.parse(timeMax))
          .filter((one) =>
            JSON.stringify([one['summary'], one['description'], one['location'], one['attendees']]).toLowerCase().includes(q.toLowerCase()),
          )
          .toSorted((a, b) => startOf(a) - startOf(b))
        return found({
          timeZone,
          items: rows.slice(0, Number(maxResults)),
          ...(rows.length > Number(maxResults) && { nextPageToken: 'more' }),
        })
      },
    },
    {
      method: 'POST',
      path: /^\/calendar\/v3\/calendars\/(primary)\/events$/,
      takes: ['sendUpdates'],
      run: ({ body }) => {
        const { id = newId(), start, end } = body as { readonly id?: unknown; readonly start?: Point; readonly end?: Point }
        if (typeof id !== 'string' || !/^[a-v0-9]{5,1024}$/.test(id)) return fail(400, 'invalid', 'Invalid resource id value.')
        if (events.some((one) => one.id === id)) return fail(409, 'duplicate', 'The requested identifier already exists.')
        if (!start || !end || !isPoint(start) || !isPoint(end)) return fail(400, 'required', 'Missing end time or time zone.')
        if (Boolean(start.date) !== Boolean(end.date)) return fail(400, 'invalid', 'Invalid start time.')
        if (timeOf(end) <= timeOf(start)) return fail(400, 'timeRangeEmpty', 'The specified time range is empty.')
        const event = { ...body, id, status: 'confirmed', htmlLink: `https://www.google.com/calendar/event?eid=${id}` }
        events.push(event)
        created.push(event)
        return found(event)
      },
    },
    {
      method: 'GET',
      path: /^\/calendar\/v3\/calendars\/primary\/events\/([^/]+)$/,
      takes: [],
      run: ({ id }) => {
        const event = events.find((one) => one.id === id)
        return event ? found(event) : fail(404, 'notFound', 'Not Found')
      },
    },
  ]

  const { handle: authorize, issuer } = authorization()

  function handle(request: ServiceRequest): ServiceAnswer {
    const { method, path, headers, query, body } = request
    const authorized = authorize(request)
    if (authorized) return authorized
    const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (bearer !== token && !issuer.accepts(bearer)) return fail(401, 'authError', 'Invalid Credentials')
    const route = ROUTES.find((one) => one.method === method && one.path.test(path))
    if (!route) return { status: 404, body: 'Not Found' }
    const unknown = [...query.keys()].find((key) => !route.takes.includes(key))
    if (unknown !== undefined) return fail(400, 'invalidParameter', `Invalid JSON payload received. Unknown name "${unknown}"`)
    return route.run({
      id: decodeURIComponent(route.path.exec(path)?.[1] ?? ''),
      query: Object.fromEntries(query),
      all: (name) => query.getAll(name),
      body: body === '' ? {} : (JSON.parse(body) as Record<string, unknown>),
    })
  }

  const service = await startService(handle, options)
  return { ...service, issuer, sent, created, drafts: () => [...drafts].map(([id, message]) => ({ id, message })) }
}

/** Reads the query that the tools make, with the escapes of Drive. Undefined if it is not valid. */
const wordsOf = (q: string): string | undefined =>
  /^\(name contains '((?:[^'\\]|\\.)*)' or fullText contains '\1'\) and trashed = false$/.exec(q)?.[1]?.replace(/\\(.)/g, '$1')

const unquoted = (text: string): string =>
  Buffer.from(
    text.replace(/=\r\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')

/** Gmail shows encoded words (RFC 2047) of headers as text. */
const decodedWords = (text: string): string =>
  text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString('utf8') : unquoted(word.replace(/_/g, ' ')),
    )

const fileRow = ({ id, name, mimeType, text, modifiedTime = '2026-11-20T10:00:00.000Z' }: GoogleFile): object => ({
  ...{ id, name, mimeType, modifiedTime },
  webViewLink: `https://docs.google.com/document/d/${id}/edit`,
  owners: [{ displayName: 'Ana Silva' }],
  ...(!mimeType.startsWith('application/vnd.google-apps.') && { size: String(text?.length ?? 0) }),
})

function messageRow({ id, threadId, labelIds, at, headers, text, html, attachments = [] }: GoogleMessage, format = 'full'): object {
  const part = (mimeType: string, value: string) => ({
    mimeType,
    filename: '',
    body: { size: value.length, data: Buffer.from(value).toString('base64url') },
  })
  const parts = [
    ...(text === undefined ? [] : [part('text/plain', text)]),
    ...(html === undefined ? [] : [part('text/html', html)]),
    ...attachments.map(({ name, type, bytes }) => ({ mimeType: type, filename: name, body: { size: bytes, attachmentId: 'a' } })),
  ]
  const payload = { headers: Object.entries(headers).map(([name, value]) => ({ name, value })) }
  return {
    ...{ id, threadId, labelIds, internalDate: String(at), snippet: (text ?? '').slice(0, 100) },
    payload: format === 'full' ? { ...payload, mimeType: 'multipart/mixed', filename: '', body: { size: 0 }, parts } : payload,
  }
}

interface Point {
  readonly date?: string
  readonly dateTime?: string
  readonly timeZone?: string
}

/** A time needs an offset or a zone. */
const isPoint = ({ date, dateTime = '', timeZone }: Point): boolean =>
  date !== undefined
    ? /^\d{4}-\d\d-\d\d$/.test(date)
    : /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(dateTime) && (/(?:Z|[+-]\d\d:?\d\d)$/.test(dateTime) || Boolean(timeZone))
const timeOf = ({ date, dateTime }: Point): number => Date.parse(date ?? dateTime ?? '')
const startOf = (event: GoogleEvent): number => timeOf((event['start'] ?? {}) as Point)
const endOf = (event: GoogleEvent): number => timeOf((event['end'] ?? {}) as Point)
