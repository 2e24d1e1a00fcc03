/** What was piped in. */
import { fstatSync } from 'node:fs'

/** Milliseconds in which the first byte must come where stdin only adds to a prompt: some programs leave it open and say nothing. */
const PATIENCE = { pipe: 10_000, other: 1500 } as const

/** Everything on stdin, to its end. */
export async function readStdin(): Promise<string> {
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const piece of process.stdin) text += piece
  return text
}

/**
 * What is on stdin besides a prompt; `undefined` when it stays open without a byte. A shell's pipe has a command at its
 * other end, which may take a while to say something; a socket is what a program leaves open that has nothing to say.
 */
export async function readStdinIfAny(patience: number = PATIENCE[isPipe() ? 'pipe' : 'other']): Promise<string | undefined> {
  const { stdin } = process
  const came = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => settle(false), patience)
    const settle = (came: boolean): void => {
      clearTimeout(timer)
      stdin.off('readable', onReadable).off('end', onReadable).off('error', onReadable)
      resolve(came)
    }
    const onReadable = (): void => settle(true)
    stdin.on('readable', onReadable).on('end', onReadable).on('error', onReadable)
  })
  if (came) return readStdin()
  stdin.pause()
  stdin.unref()
  return undefined
}

function isPipe(): boolean {
  try {
    return fstatSync(0).isFIFO()
  } catch {
    return false
  }
}
