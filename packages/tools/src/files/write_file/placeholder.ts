/** Detects placeholder text in place of code. Pure. */

const COMMENT = /^\s*(?:\/\/+|#+|--|;+|%|\/?\*+|<!--|\{\s*\/\*)\s*(.*?)\s*(?:\*\/\s*\}?|-->)?\s*$/
const WHAT = '(?:code|file|function|method|class|content|contents|implementation|logic|imports?|styles|tests?|script|component|config)s?'
const UNMISTAKABLE = [
  /^(?:\.{3}|…)\s*(?:the )?(?:rest of|remaining|existing|previous|other|same|unchanged)\b.*(?:\.{3}|…)?$/i,
  new RegExp(
    `^(?:the )?(?:rest of|remaining|existing|previous) (?:the |your |this )?(?:existing |original )?${WHAT}\\b.*(?:\\.{3}|…|unchanged|same|remains?|here|as (?:before|is)|stays?)`,
    'i',
  ),
  /^(?:\.{3}|…)\s*\(?(?:unchanged|omitted|same as (?:before|above)|snip)\b.*$/i,
  /^\[?(?:code|content|lines?) (?:omitted|unchanged|truncated)(?: for brevity)?\]?\.?$/i,
]
const LIKELY = [
  /^(?:\.{3}|…)$/,
  new RegExp(`^(?:the )?(?:rest of|remaining|existing|previous) (?:the |your |this )?(?:existing |original )?${WHAT}\\.?$`, 'i'),
  /^(?:no changes?|unchanged|same as before|keep (?:the )?(?:rest|existing .*))\.?$/i,
]

export interface Placeholder {
  /** From 1. */
  readonly line: number
  readonly text: string
}

/**
 * Returns the first comment that stands for omitted code, such as `// ... rest of the code unchanged`.
 *
 * @param before the replaced text. Its own lines are not placeholders; if given, more phrases count as placeholders
 */
export function findPlaceholder(text: string, before?: string): Placeholder | undefined {
  const known = new Set(before?.split('\n').map((line) => line.trim()))
  const patterns = before === undefined ? UNMISTAKABLE : [...UNMISTAKABLE, ...LIKELY]
  for (const [index, line] of text.split('\n').entries()) {
    const comment = line.length < 200 ? COMMENT.exec(line)?.[1] : undefined
    if (comment && !known.has(line.trim()) && patterns.some((pattern) => pattern.test(comment)))
      return { line: index + 1, text: line.trim() }
  }
  return undefined
}
