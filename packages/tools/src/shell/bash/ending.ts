/** What an exit code or a signal says. Pure. */

const SIGNALS: Readonly<Record<string, string>> = {
  SIGKILL: 'it was killed, often for want of memory',
  SIGSEGV: 'it crashed (segmentation fault)',
  SIGBUS: 'it crashed (bus error)',
  SIGILL: 'it crashed (illegal instruction)',
  SIGFPE: 'it crashed (division by zero or the like)',
  SIGABRT: 'it aborted itself (a failed assertion or the like)',
  SIGTERM: 'it was asked to end',
  SIGINT: 'it was interrupted',
  SIGHUP: 'its terminal was closed',
  SIGPIPE: 'it wrote to a pipe that nobody reads',
  SIGXFSZ: 'a file became larger than it may',
  SIGXCPU: 'it took more processor time than it may',
  SIGTRAP: 'it stopped at a breakpoint',
  SIGSYS: 'it called something that the sandbox forbids',
}

const NUMBERS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
}

/** A shell says 128 and the number for a command that a signal ended. */
const OF_SIGNAL = 128

/** `exited with code 139 (SIGSEGV: it crashed (segmentation fault))` */
export function endingText({ exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null }): string {
  if (exitCode === null) return `was ended by ${signal ?? 'a signal'}${meaning(signal)}`
  const name = NUMBERS[exitCode - OF_SIGNAL]
  return `exited with code ${exitCode}${name === undefined ? '' : ` (${name}: ${SIGNALS[name]})`}`
}

const meaning = (signal: string | null): string => {
  const known = signal === null ? undefined : SIGNALS[signal]
  return known === undefined ? '' : `: ${known}`
}
