/** marked's lexer for text that a model wrote: what nests without end or would take minutes to read stays plain text. Pure. */
import { Lexer, type Token, type TokensList } from 'marked'

/** Quotes and lists within one another. */
const MAX_DEPTH = 24
/** Characters of a paragraph or cell in which emphasis and links are looked for: to find them may take their square. */
const MAX_INLINE = 4000

export const blockTokens = (markdown: string): TokensList => lexed(markdown, 0)

/** The same with what is in paragraphs and cells. */
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
