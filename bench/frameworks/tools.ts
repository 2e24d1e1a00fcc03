/** The tools, the same for all frameworks. Some of them misbehave. */
import type { NeutralTool } from './driver.ts'

/** The result of `read_lines`. */
export const LINES = 'one\ntwo\nthree'
/** What the exception of `connect` contains and the model must not read. */
export const SECRET = 'hunter2'
export const FILE = '/srv/app/db.ts'
/** The exception of `query` for a column that does not exist. */
export const HINT = 'no such column nme; did you mean name?'
export const NAMES = 'Ada\nGrace'
/** The characters of the result of `dump`. */
export const LONG = 400_000
/** The calls of `build_status` until the build is done. */
export const POLLS = 6
/** The calls of `fetch_page` that a reply contains. */
export const PAGES = ['a', 'b', 'c'] as const
/** Milliseconds after which a page stops waiting for the others. */
const ALONE = 500

/** New tools, with state for one run. @param ran is told about each call */
export function toolsFor(ran: (tool: string, input: unknown) => void): readonly NeutralTool[] {
  const together = barrier(PAGES.length)
  let polls = 0
  const works: Readonly<Record<string, readonly [about: string, parameters: NeutralTool['parameters'], work: Work]>> = {
    read_lines: ['Reads the first lines of a file.', { path: 'string', limit: 'number' }, () => LINES],
    query: ['Asks the database.', { sql: 'string' }, ({ sql }) => (/nme/.test(String(sql)) ? fail(HINT) : NAMES)],
    connect: ['Connects to the database.', { name: 'string' }, () => fail(`connect failed: postgres://app:${SECRET}@db/main`)],
    dump: ['Gives everything.', { path: 'string' }, () => 'line of a very long result\n'.repeat(LONG / 27)],
    wait_for: ['Waits for a build.', { path: 'string' }, () => new Promise<never>(() => undefined)],
    wait_until_aborted: ['Waits for a build.', { path: 'string' }, (_, signal) => aborted(signal)],
    build_status: ['The state of a build.', { path: 'string' }, () => (++polls < POLLS ? `running, step ${polls} of ${POLLS}` : 'done')],
    fetch_page: ['Fetches a page.', { path: 'string' }, async ({ path }) => `page ${path}, ${(await together()) ? 'together' : 'alone'}`],
  }
  return Object.entries(works).map(([name, [description, parameters, work]]) => ({
    name,
    description,
    parameters,
    execute: async (input, signal) => {
      ran(name, input)
      return work(input, signal)
    },
  }))
}

type Work = (input: Readonly<Record<string, unknown>>, signal?: AbortSignal) => string | Promise<string>

function fail(message: string): never {
  const error = new Error(message)
  error.stack = `Error: ${message}\n    at connect (${FILE}:12:3)`
  throw error
}

const aborted = (signal?: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

/** @returns a function that resolves with true as soon as `count` calls of it are waiting, with false if they do not come */
function barrier(count: number): () => Promise<boolean> {
  const waiting: ((isTogether: boolean) => void)[] = []
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === count) for (const each of waiting) each(true)
      else setTimeout(() => resolve(false), ALONE)
    })
}
