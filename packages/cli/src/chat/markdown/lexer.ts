/** Wraps marked's lexer for model output. Text that nests too deeply or would take too long to parse stays plain text. Pure. */
import { Lexer, type Token, type TokensList } from 'marked'

/** Maximum nesting depth of quotes and lists. */
const MAX_DEPTH = 24
/** Maximum length of a paragraph or cell that is searched for emphasis and links, since the search can take quadratic time. */
const MAX_INLINE = 4000

export const blockTokens = (markdown: string): TokensList => lexed(markdown, 0)

/** Like {@link blockTokens}, but also parses the content of paragraphs and cells. */
export const allTokens = (markdown: string): TokensList => lexed(markdown, MAX_INLINE)

function lexed(markdown: string, mostInline: number): TokensList {
  const lexer = new Lexer()
  boundDepth(lexer)
  lexer.blockTokens(markdown.replace(/\r\n?/g, '\n'), lexer.tokens)
  for (const { src, tokens } of lexer.inlineQueue.splice(0)) {
    if (src.length <= mostInline) lexer.inlineTokens(src, tokens)
    else tokens.push(plainToken(src))
  }
  return lexer.tokens
}

function boundDepth(lexer: Lexer): void {
  const inner = lexer.blockTokens.bind(lexer) as (src: string, tokens?: Token[], isClipped?: boolean) => Token[]
  let depth = 0
  lexer.blockTokens = ((src: string, tokens: Token[] = [], isClipped?: boolean) => {
    if (depth >= MAX_DEPTH) {
      if (src !== '') tokens.push(plainToken(src))
      return tokens
    }
    depth++
    try {
      return inner(src, tokens, isClipped)
    } finally {
      depth--
    }
  }) as Lexer['blockTokens']
}

const plainToken = (text: string): Token => ({ type: 'text', raw: text, text, escaped: false })
