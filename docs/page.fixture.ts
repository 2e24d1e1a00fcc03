/** Reads the pages of the documentation: fenced blocks, tables, links. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './run.fixture.ts'

export interface Block {
  /** Name of the page and line of the fence, for messages. */
  readonly at: string
  /** First word after the fence: `ts`, `sh`, `text`. */
  readonly lang: string
  /** The other words. A word with a dot names the file that the block is. */
  readonly words: readonly string[]
  readonly text: string
  /** Nothing but blank lines is between this block and the one before. */
  readonly follows: boolean
}

export function blocksOf(page: string, markdown: string): Block[] {
  const blocks: Block[] = []
  const lines = markdown.split('\n')
  let adjacent = false
  for (let at = 0; at < lines.length; at++) {
    const [, fence, info = ''] = /^(`{3,})(.*)$/.exec(lines[at] as string) ?? []
    if (fence === undefined) {
      if ((lines[at] as string).trim() !== '') adjacent = false
      continue
    }
    const end = lines.findIndex((line, index) => index > at && line.trim().startsWith(fence) && /^`+$/.test(line.trim()))
    if (end === -1) throw new Error(`${page}:${at + 1}: the block has no end`)
    const [lang = '', ...words] = info.trim().split(/\s+/)
    blocks.push({ at: `${page}:${at + 1}`, lang, words, text: lines.slice(at + 1, end).join('\n'), follows: adjacent })
    adjacent = true
    at = end
  }
  return blocks
}

export const PAGES: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...globSync('{docs/*.md,packages/*/README.md}', { cwd: ROOT }).sort(),
]

/** The text of a page. */
export const pageText = (page: string): string => readFileSync(join(ROOT, page), 'utf8')

/** The file that a block is, when it is one. */
export const fileOf = ({ words }: Block): string | undefined => words.find((word) => /^[\w./-]+\.[a-z]+$/.test(word))

/** Cells of the first table under a heading that begins so, its head left out; code marks are taken off. */
export function tableUnder(markdown: string, heading: string): string[][] {
  const lines = markdown.split('\n')
  const from = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '').replaceAll('`', '').startsWith(heading))
  if (from === -1) throw new Error(`there is no heading "${heading}"`)
  const next = lines.findIndex((line, at) => at > from && /^#+ /.test(line))
  const rows = lines.slice(from, next === -1 ? undefined : next).filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|')),
  )
}

/** Relative links to other files. */
export const linksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string).filter((link) => !/^(?:https?:|#)/.test(link))

/**
 * What a block says it prints: the text after `// →`, and the lines that follow it as `//   …`. Undefined if it says nothing.
 */
export function expectedOutput(code: string): string | undefined {
  const expected: string[] = []
  let open = false
  for (const line of code.split('\n')) {
    const arrow: RegExpExecArray | null = /\/\/ → ?(.*)$/.exec(line)
    const more: RegExpExecArray | null = open ? /^\s*\/\/ {3}(.*)$/.exec(line) : null
    const said: RegExpExecArray | null = arrow ?? more
    open = said !== null
    if (said) expected.push(said[1] as string)
  }
  return expected.length > 0 ? expected.join('\n') : undefined
}

/**
 * The first line of a transcript that did not happen, or undefined. A line `…` stands for any lines, one that ends in `…` for a longer one;
 * times, tokens and session ids may differ.
 */
export function missingLine(transcript: string, output: string): string | undefined {
  const actual = normal(output).trimEnd().split('\n')
  let at = 0
  let gap = false
  for (const line of normal(transcript).trimEnd().split('\n')) {
    if (line.trim() === '…') {
      gap = true
      continue
    }
    const is = (other: string | undefined): boolean =>
      other !== undefined && (other === line || (line.endsWith('…') && other.startsWith(line.slice(0, -1).trimEnd())))
    const found = gap ? actual.findIndex((other, index) => index >= at && is(other)) : is(actual[at]) ? at : -1
    if (found === -1) return line
    at = found + 1
    gap = false
  }
  return gap || at === actual.length ? undefined : `(the output continues: ${actual[at]})`
}

const normal = (text: string): string =>
  text
    .replace(/\b\d+ ms\b|\b\d+\.\d s\b/g, 'N ms')
    .replace(/[\d,]+ tokens/g, 'N tokens')
    .replace(/session \S+/g, 'session ID')
    .replace(/[ \t]+$/gm, '')

/** The commands in a shell block that are ours, as words. Quotes are read, pipes and `&&` end a command. */
export function commandsOf(shell: string): string[][] {
  return shell.split('\n').flatMap((line) => {
    const commands: string[][] = [[]]
    for (const [, double, single, operator, word] of line.matchAll(/"([^"]*)"|'([^']*)'|(&&|\|\|?|;|#.*)|([^\s"'|;&#]+)/g)) {
      if (operator?.startsWith('#')) break
      if (operator !== undefined) commands.push([])
      else commands.at(-1)?.push(double ?? single ?? word ?? '')
    }
    return commands.flatMap((words) => {
      const from = words[0] === 'npx' ? 1 : 0
      return words[from] === 'mulligan' ? [words.slice(from + 1)] : []
    })
  })
}
