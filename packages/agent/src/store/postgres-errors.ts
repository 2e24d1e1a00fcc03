/** Explains PostgreSQL errors to the user: what happened and what to do, never with a password. */
import { MissingSession } from './driver.ts'
import { NewerStore } from './schema.ts'
import { SessionTakenOver } from './store.ts'

export interface Address {
  /** `HOST:PORT/DATABASE`. */
  readonly shown: string
  readonly user: string
  readonly database: string
  /** The secrets, as they are and as encoded in a URL. */
  readonly secrets: readonly string[]
}

/** The database can't be reached, or refused a statement. */
export class PostgresError extends Error {
  /** SQLSTATE, or a system error code such as `ECONNREFUSED`. */
  readonly code: string | undefined
  constructor(message: string, code?: string) {
    super(message)
    this.name = 'PostgresError'
    this.code = code
  }
}

interface Parsed {
  readonly host: string
  readonly port: number
  readonly user?: string | undefined
  readonly database?: string | undefined
  readonly password?: unknown
}

/** Parses a connection string. @param parse throws if it is invalid, with the whole string in the error @throws Error */
export function addressOf(connectionString: string, parse: (config: { readonly connectionString: string }) => Parsed): Address {
  try {
    const { host, port, user = '', database = '', password } = parse({ connectionString })
    const secret = typeof password === 'string' && password !== '' ? [password, encodeURIComponent(password)] : []
    return { shown: `${host}:${port}/${database}`, user, database, secrets: [connectionString, ...secret] }
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    const file = code === 'ENOENT' && path !== undefined ? ` It names a file that does not exist: ${path}.` : ''
    throw new Error(
      `The address of the PostgreSQL store is not valid.${file} It has the form postgres://USER:PASSWORD@HOST:5432/DATABASE; in a password, characters such as @ / : # are written as %40 %2F %3A %23.`,
    )
  }
}

interface DatabaseError extends Error {
  readonly code?: string
  readonly severity?: string
}

/** Server errors: the connection or the whole server ends, it is starting, or it has no free connection slot. */
const CONNECTION = /^(?:08|57P0[1-3]|53300)/
const NETWORK = /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/
/** Client errors, which have no codes. */
const CLIENT = /^Connection terminated|timeout|not queryable/i
/** The transaction lost a race with another one. */
const LOST_RACE = /^40/
/** Errors of the row: its values, a constraint, or a size limit. */
const ROW = /^(?:22|23|54)/

const codeOf = (error: unknown): string => String((error as DatabaseError | undefined)?.code ?? '')
const isFromServer = (error: unknown): boolean => (error as DatabaseError | undefined)?.severity !== undefined

/** Returns whether the connection was lost or never established. */
export function isLost(error: unknown): boolean {
  if (isFromServer(error)) return CONNECTION.test(codeOf(error))
  return error instanceof Error && !isOurs(error) && (NETWORK.test(codeOf(error)) || CLIENT.test(error.message))
}

const isOurs = (error: unknown): boolean =>
  [SessionTakenOver, MissingSession, PostgresError, NewerStore].some((kind) => error instanceof kind)

export const mayBeRepeated = (error: unknown): boolean => isLost(error) || (isFromServer(error) && LOST_RACE.test(codeOf(error)))

/** Returns whether the same row would be refused again. */
export const isRowAtFault = (error: unknown): boolean => error instanceof MissingSession || ROW.test(codeOf(error))

/** Explains what happened and what to do. Our own errors are returned unchanged. */
export function explained(error: unknown, address: Address): unknown {
  if (isOurs(error) || !(error instanceof Error)) return error
  const code = codeOf(error)
  return new PostgresError(withoutSecrets(messageOf(error, code, address), address), code || undefined)
}

function messageOf(error: Error, code: string, { shown, user, database }: Address): string {
  const says = error.message === '' ? code : error.message
  if (isLost(error) || code === 'ENOTFOUND')
    return `PostgreSQL at ${shown} does not answer: ${says}. Check that it is running and can be reached from here. What was saved before is kept.`
  if (/^28/.test(code))
    return `PostgreSQL at ${shown} refused the login: ${says}. Check user and password in the store's address, or in ~/.pgpass.`
  if (code === '3D000') return `There is no database ${database} at ${shown}. Create it: createdb ${database}`
  if (code === '42501')
    return `PostgreSQL at ${shown} refused: ${says}. Give the user its rights: GRANT CREATE ON DATABASE ${database} TO ${user}`
  return `PostgreSQL at ${shown}: ${says}`
}

const withoutSecrets = (text: string, { secrets }: Address): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text)
