/** The entry point of the command. Modules are loaded on first use, so that simple commands start fast. */
import { writeSync } from 'node:fs'
import { safeJson, sanitize, storeHint, UsageError } from '@mulligan/host/light'
import { absoluteDataDir, version } from './paths.ts'
import { EXIT, endProcess, watchExit } from './process.ts'
import { keepStdoutClean, type Output, openOutput } from './ui/output.ts'

/** Runs the command and ends the process, so that an abandoned tool cannot keep it open. */
export async function run(argv: readonly string[]): Promise<void> {
  muteExperimental()
  // If the event loop empties before there is a result, the exit code must indicate failure.
  process.exitCode = EXIT.failed
  const output = openOutput()
  keepStdoutClean()
  watchExit((by) => endedBy(by, argv))
  const code = await main(argv, output)
  await output.flush()
  const failure = output.failure()
  if (failure) {
    output.err(`mulligan: the result could not be written to stdout: ${sanitize(failure.code ?? failure.message)}\n`)
    await output.flush()
  }
  endProcess(failure ? EXIT.failed : code)
}

function endedBy(own: string | undefined, argv: readonly string[]): void {
  const message = own === undefined ? 'the process ended before the command finished' : `${own} ended the process`
  const hint = 'A tool of your own has to return or throw: process.exit, or a promise that never settles, ends the command.'
  writeAtOnce(2, `mulligan: ${sanitize(message)}\n${hint}\n`)
  if (wantsJson(argv)) writeAtOnce(1, `${safeJson({ error: { message, hint } })}\n`)
}

function writeAtOnce(stream: 1 | 2, text: string): void {
  try {
    writeSync(stream, text)
  } catch {
    // Nobody is reading the output.
  }
}

/** @returns the exit code */
export async function main(argv: readonly string[], output: Output): Promise<number> {
  try {
    absoluteDataDir()
    if (argv.length === 1 && /^(?:--version|-[vV])$/.test(argv[0] ?? '')) {
      output.out(`${version()}\n`)
      return EXIT.ok
    }
    const { runProgram } = await import('./program.ts')
    return await runProgram(argv, version(), output)
  } catch (error) {
    return report(error, argv, output)
  }
}

function report(error: unknown, argv: readonly string[], { out, err }: Output): number {
  const isUsage = error instanceof UsageError
  const message = error instanceof Error ? error.message : String(error)
  const hint = isUsage ? error.hint : (storeHint(error) ?? 'This is a bug in mulligan. Set MULLIGAN_DEBUG=1 to see where.')
  err(`mulligan: ${sanitize(message)}\n${sanitize(hint)}\n`)
  if (!isUsage && process.env['MULLIGAN_DEBUG'] && error instanceof Error) err(`${sanitize(error.stack ?? '')}\n`)
  if (wantsJson(argv)) out(`${safeJson({ error: { message, hint } })}\n`)
  return isUsage ? EXIT.usage : EXIT.failed
}

/** Whether JSON was requested, even if the flags could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).some((arg) => arg === '--json' || arg === '--json-stream')
}

/** Suppresses warnings of Node 22 about features that are stable in later versions. */
function muteExperimental(): void {
  const others = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name !== 'ExperimentalWarning') for (const tell of others) tell(warning)
  })
}
