/** Renders one block of Markdown. Pure. The text must already be sanitized for the terminal. */
import type { Token, Tokens } from 'marked'
import type { Colors } from '../../ui/colors.ts'
import { coloured } from '../../ui/diff.ts'
import { allTokens } from './lexer.ts'

export type Drawn =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'rule' }
  | { readonly kind: 'quote'; readonly blocks: readonly Drawn[] }
  | { readonly kind: 'list'; readonly items: readonly DrawnItem[]; readonly gap: boolean }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[]; readonly right: readonly boolean[] }

export interface DrawnItem {
  readonly mark: string
  readonly blocks: readonly Drawn[]
}

export const drawnOf = (markdown: string, colors: Colors): readonly Drawn[] => blocks(allTokens(markdown), colors)

const blocks = (tokens: readonly Token[], colors: Colors): readonly Drawn[] =>
  (tokens as Tokens.Generic[]).flatMap((token) => block(token as MarkedBlock, colors) ?? [])

type MarkedBlock =
  | Tokens.Heading
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.Code
  | Tokens.List
  | Tokens.Blockquote
  | Tokens.Table
  | Tokens.Hr
  | Tokens.HTML
  | Tokens.Def
  | Tokens.Space

function block(token: MarkedBlock, colors: Colors): Drawn | undefined {
  switch (token.type) {
    case 'heading':
      return { kind: 'text', text: colors.bold(inline(token.tokens, colors)) }
    case 'code':
      return { kind: 'code', text: code(token.text, token.lang ?? '', colors) }
    case 'hr':
      return { kind: 'rule' }
    case 'blockquote':
      return { kind: 'quote', blocks: blocks(token.tokens, colors) }
    case 'list':
      return {
        kind: 'list',
        gap: token.loose,
        items: token.items.map(({ tokens, checked, task }, at) => ({
          mark: task ? (checked ? '☑' : '☐') : token.ordered ? `${Number(token.start || 1) + at}.` : '•',
          blocks: blocks(
            tokens.filter(({ type }) => type !== 'checkbox'),
            colors,
          ),
        })),
      }
    case 'table':
      return {
        kind: 'table',
        rows: [token.header, ...token.rows].map((row, at) =>
          row.map(({ tokens }) => (at === 0 ? colors.bold(inline(tokens, colors)) : inline(tokens, colors))),
        ),
        right: token.align.map((align) => align === 'right'),
      }
    case 'space':
      return undefined
    case 'def':
    case 'html':
      return { kind: 'text', text: token.raw.trimEnd() }
    default:
      return { kind: 'text', text: 'tokens' in token && token.tokens ? inline(token.tokens, colors) : decoded(token.raw) }
  }
}

function code(text: string, lang: string, colors: Colors): string {
  const lines = text.replaceAll('\t', '    ').split('\n')
  return lines.map((line) => (/^diff\b/.test(lang) ? coloured(line, colors) : line)).join('\n')
}

/** Emphasis as the terminal has it, an address beside its text: an escape sequence that links could show one and open another. */
function inline(tokens: readonly Token[], colors: Colors): string {
  return tokens.map((token) => span(token as MarkedSpan, colors)).join('')
}

type MarkedSpan =
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Link
  | Tokens.Image
  | Tokens.Br
  | Tokens.Escape
  | Tokens.Text

function span(token: MarkedSpan, colors: Colors): string {
  switch (token.type) {
    case 'strong':
      return colors.bold(inline(token.tokens, colors))
    case 'em':
      return colors.italic(inline(token.tokens, colors))
    case 'del':
      return colors.strikethrough(inline(token.tokens, colors))
    case 'codespan':
      return colors.isColorSupported ? colors.cyan(token.text) : `\`${token.text}\``
    case 'link': {
      const text = inline(token.tokens, colors)
      const isBare = token.text === token.href || `mailto:${token.text}` === token.href
      return isBare ? colors.underline(text) : `${text} (${colors.underline(token.href)})`
    }
    case 'image':
      return `${token.text || 'image'} (${colors.underline(token.href)})`
    case 'br':
      return '\n'
    case 'escape':
      return token.text
    default:
      return 'tokens' in token && token.tokens ? inline(token.tokens, colors) : decoded(token.raw)
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' }

/** Those that models write. A number could name any character, also one that a terminal obeys. */
const decoded = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name] as string)
