/** Converts between shell words and ours. Pure. */
import type { Candidate, Completion } from './complete.ts'

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof SHELLS)[number]

/** bash takes a word apart at `:` and `=`, as in `--model=ollama/x:1b`. */
export function joined(words: readonly string[]): readonly string[] {
  const all: string[] = []
  for (const [at, word] of words.entries()) {
    const isBroken = /^[:=]+$/.test(word) || /^[:=]+$/.test(words[at - 1] ?? '')
    const last = isBroken ? all.pop() : undefined
    all.push(`${last ?? ''}${word}`)
  }
  return all
}

/**
 * What the shell reads: a line that says what they are, then one for each, with a description behind a tab. bash wants only what
 * is behind the last `:` or `=`.
 */
export function answerFor(shell: Shell, current: string, { candidates, prefix, wanted }: Completion, found: readonly Candidate[]): string {
  if (wanted?.kind === 'file' || wanted?.kind === 'folder') return `:${wanted.kind}s\n`
  const all = [...candidates, ...found].map(({ value, says = '' }) => ({ value: prefix + value, says }))
  const fitting = all.filter(({ value }) => value.startsWith(current))
  const cut = shell === 'bash' ? current.search(/[^:=]*$/) : 0
  const lines = fitting.map(({ value, says }) => (shell === 'bash' ? value.slice(cut) : `${value}\t${says}`))
  return `${[':values', ...lines].join('\n')}\n`
}
