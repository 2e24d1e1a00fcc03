/** `mulligan chat` on a server: a plain chat, line by line. */
import { resolve } from 'node:path'
import { sanitize, UsageError } from '@mulligan/host/light'
import { EXIT, watchInterrupts } from '../process.ts'
import { askInTerminal } from '../ui/ask.ts'
import { colorsFor } from '../ui/colors.ts'
import type { Output } from '../ui/output.ts'
import type { RemoteFlags } from './named.ts'
import { reportTurn } from './run.ts'
import { connect } from './server.ts'
import { type Begun, checkFlags, chosenSession, newSession, openTurn, startTurn } from './session.ts'

/** @returns the exit code. @throws UsageError */
export async function chatOnServer(url: string, flags: RemoteFlags, output: Output): Promise<number> {
  if (flags.resume) throw new UsageError("--resume can't be used with a server", 'Use --last, or --session ID.')
  checkFlags(flags)
  const { dim, red } = colorsFor(process.stderr)
  const cwd = resolve(flags.cwd ?? '.')
  const remote = await connect(url, process.env, flags.insecure)
  let session = await chosenSession(remote, flags, cwd)
  output.err(
    dim(`A chat on ${url}, in ${session?.cwd ?? cwd}. Ctrl-C stops a turn, /exit or Ctrl-D leaves; a running turn continues there.\n`),
  )

  /** @returns whether the chat goes on */
  async function turn(begin: () => Promise<Begun | undefined>): Promise<boolean> {
    const interrupt = watchInterrupts(() => output.err('\nStopping. Ctrl-C again leaves at once.\n'))
    try {
      const begun = await begin()
      if (begun && session) await reportTurn(remote, session, begun, { flags, output, interrupt })
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      output.err(`${red(sanitize(error.message))}\n${sanitize(error.hint)}\n`)
    } finally {
      interrupt.dispose()
    }
    return !output.closed.aborted
  }

  if (session) {
    const known = session
    await turn(() => openTurn(remote, known))
  }
  const left = new AbortController()
  const ask = askInTerminal(() => left.abort())
  for (let goesOn = true; goesOn; ) {
    const text = (await ask('> ', left.signal))?.trim()
    if (text === undefined || text === '/exit') break
    if (text === '') continue
    goesOn = await turn(async () => {
      session ??= await newSession(remote, flags, cwd)
      return startTurn(remote, session, text)
    })
  }
  if (session) output.err(dim(`To go on: mulligan chat --session ${session.id}\n`))
  return left.signal.aborted ? EXIT.cancelled : EXIT.ok
}
