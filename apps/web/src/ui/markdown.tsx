/**
 * Renders Markdown as React elements, so that no text ever becomes markup. HTML is shown as text, images as links: loading one would tell
 * its server what a model wrote into the address.
 */
import { lexer, type Token, type Tokens } from 'marked'
import { Fragment, memo, type ReactNode, useMemo } from 'react'
import { Clip } from './clip.tsx'
import { CopyButton } from './copy.tsx'
import { Diff } from './diff.tsx'
import { safeText, size } from './safe-text.ts'

/** Longer texts are not parsed to the end: the rest is shown as it is. */
const MAX_PARSED = 100_000
const MAX_LINE = 20_000

export function Markdown({ text }: { readonly text: string }) {
  const cut = useMemo(() => parsedLength(text), [text])
  const blocks = useMemo(() => (cut === 0 ? [] : lexer(text.slice(0, cut))), [text, cut])
  return (
    <div className="prose">
      {blocks.map((token, at) => (
        // Blocks only ever grow at the end of a stream.
        // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other identity
        <Block key={at} token={token} raw={token.raw} />
      ))}
      {cut < text.length && (
        <section aria-label="Rest of a long text">
          <p className="soft">The rest ({size(text.length - cut)}) is shown as plain text.</p>
          <Clip text={text.slice(cut)} first={2000} />
        </section>
      )}
    </div>
  )
}

/** The length up to which a text is parsed: a line of megabytes would block the page. */
function parsedLength(text: string): number {
  if (text.length <= MAX_LINE) return text.length
  let start = 0
  while (start < Math.min(text.length, MAX_PARSED)) {
    const end = text.indexOf('\n', start)
    const length = (end === -1 ? text.length : end) - start
    if (length > MAX_LINE) return start
    if (end === -1) return text.length
    start = end + 1
  }
  return start >= text.length ? text.length : start
}

const Block = memo(
  ({ token }: { readonly token: Token; readonly raw: string }) => block(token),
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
)

function block(token: Token): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'hr':
      return <hr />
    case 'heading': {
      // The page has its own first levels.
      const Level = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as 'h3'
      return <Level>{inline((token as Tokens.Heading).tokens)}</Level>
    }
    case 'code': {
      const { text, lang } = token as Tokens.Code
      return <Code text={text} lang={lang ?? ''} />
    }
    case 'blockquote':
      return <blockquote>{blocksOf((token as Tokens.Blockquote).tokens)}</blockquote>
    case 'list': {
      const { ordered, start, items } = token as Tokens.List
      const children = items.map((item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an item has no other identity
        <li key={at}>
          {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked ? 'done' : 'open'} />}
          {blocksOf(item.tokens)}
        </li>
      ))
      return ordered ? <ol start={typeof start === 'number' ? start : 1}>{children}</ol> : <ul>{children}</ul>
    }
    case 'table':
      return <Table table={token as Tokens.Table} />
    case 'paragraph':
      return <p>{inline((token as Tokens.Paragraph).tokens)}</p>
    case 'text': {
      const { tokens, text } = token as Tokens.Text
      return tokens ? inline(tokens) : safeText(text)
    }
    default:
      return <p>{safeText(token.raw)}</p>
  }
}

const blocksOf = (tokens: readonly Token[]): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: a block has no other identity
  tokens.map((token, at) => <Fragment key={at}>{block(token)}</Fragment>)

const inline = (tokens: readonly Token[] = []): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: a piece of text has no other identity
  tokens.map((token, at) => <Fragment key={at}>{piece(token)}</Fragment>)

function piece(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline((token as Tokens.Strong).tokens)}</strong>
    case 'em':
      return <em>{inline((token as Tokens.Em).tokens)}</em>
    case 'del':
      return <del>{inline((token as Tokens.Del).tokens)}</del>
    case 'codespan':
      return <code>{safeText((token as Tokens.Codespan).text)}</code>
    case 'br':
      return <br />
    case 'link': {
      const { href, tokens } = token as Tokens.Link
      return <Link href={href}>{inline(tokens)}</Link>
    }
    case 'image': {
      const { href, text } = token as Tokens.Image
      return <Link href={href}>[image: {safeText(text || href)}]</Link>
    }
    case 'text': {
      const { tokens, text } = token as Tokens.Text
      return tokens ? inline(tokens) : safeText(text)
    }
    case 'escape':
      return safeText((token as Tokens.Escape).text)
    default:
      return safeText(token.raw)
  }
}

function Link({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return <span title={safeText(href)}>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={safeText(href)}>
      {children}
    </a>
  )
}

function Code({ text, lang }: { readonly text: string; readonly lang: string }) {
  if (lang === 'diff') return <Diff text={text} />
  return (
    <figure className="code">
      <figcaption>
        <span>{safeText(lang.slice(0, 30)) || 'text'}</span>
        <CopyButton text={text} />
      </figcaption>
      <Clip text={text} className="plain" />
    </figure>
  )
}

function Table({ table: { header, rows, align } }: { readonly table: Tokens.Table }) {
  const at = (column: number): string => `at-${align[column] ?? 'left'}`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section className="scroll" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a cell has no other identity
              <th key={column} scope="col" className={at(column)}>
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, line) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row has no other identity
            <tr key={line}>
              {row.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell has no other identity
                <td key={column} className={at(column)}>
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
