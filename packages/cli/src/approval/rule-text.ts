/** Says in words what a rule allows. Pure. Each key of the rule is one restriction of the sentence, so it never says less than the rule. */
import { oneLine, safeJson, visible } from '@mulligan/host/light'
import type { ConfiguredRule } from '@mulligan/host/parts'

const MAX_QUOTED = 200

/** Quotes a text on one line. A text that has backticks itself is written as JSON, so that it can't end its quotes. */
function quoted(text: string): string {
  const shown = oneLine(visible(text), MAX_QUOTED)
  return shown.includes('`') ? JSON.stringify(shown) : `\`${shown}\``
}

type Matches = { readonly how: 'any' } | { readonly how: 'exactly' | 'from' | 'word' | 'pattern'; readonly text: string }

const PIECES = /\\[\\*]|\*|[^\\*]+|\\/g

/** Reads a pattern as the policy does: `\*` is a star, and ` *` at the end may match nothing. */
function matchesOf(pattern: string | undefined): Matches {
  const pieces = (pattern ?? '*').match(PIECES) ?? []
  const stars = pieces.filter((piece) => piece === '*').length
  const text = pieces.map((piece) => (/^\\[\\*]$/.test(piece) ? piece.slice(1) : piece === '*' ? '' : piece)).join('')
  if (stars === 0) return { how: 'exactly', text }
  if (pieces.length === 1) return { how: 'any' }
  if (stars > 1 || pieces.at(-1) !== '*') return { how: 'pattern', text: pattern ?? '' }
  return text.endsWith(' ') ? { how: 'word', text: text.slice(0, -1) } : { how: 'from', text }
}

function said(matches: Exclude<Matches, { how: 'any' }>): string {
  const text = quoted(matches.text)
  switch (matches.how) {
    case 'exactly':
      return `exactly ${text}`
    case 'word':
      return `${text}, alone or with more words after it`
    case 'from':
      return `whatever begins with ${text}`
    default:
      return `whatever matches ${text}, where * is any text`
  }
}

/** @returns for example ``allow bash commands (write): exactly `npm test`, run in the workspace folder, in ~/work and its folders`` */
export function ruleText({ decision, tool, effect, target, input = {}, folder }: ConfiguredRule): string {
  const [ofTool, ofTarget] = [matchesOf(tool), matchesOf(target)]
  const kind = effect === undefined ? '' : ` (${effect})`
  const calls =
    ofTool.how === 'any'
      ? `calls of any tool${kind}`
      : ofTool.how !== 'exactly'
        ? `calls of ${said(ofTool)}${kind}`
        : ofTool.text === 'bash'
          ? `bash commands${kind}`
          : `${oneLine(visible(ofTool.text), MAX_QUOTED)} calls${kind}`
  const what = ofTarget.how === 'any' ? `all ${calls}` : `${calls}: ${said(ofTarget)}`
  const conditions = Object.entries(input).map(([name, pattern]) => condition(name, matchesOf(pattern)))
  const where = folder === undefined ? [] : [`in ${oneLine(visible(folder), MAX_QUOTED)} and its folders`]
  return [`${decision} ${what}`, ...conditions, ...where].join(', ')
}

function condition(name: string, matches: Matches): string {
  if (matches.how === 'any') return `with any \`${name}\``
  const known = matches.how === 'exactly' ? KNOWN[`${name}=${matches.text}`] : undefined
  if (known !== undefined) return known
  if (name === 'cwd' && matches.how === 'exactly') return `run in ${quoted(matches.text)}`
  return `with ${quoted(name)} ${matches.how === 'exactly' ? quoted(matches.text) : said(matches)}`
}

/** Parameters of commands, in words. */
const KNOWN: Readonly<Record<string, string>> = {
  'cwd=.': 'run in the workspace folder',
  'writes=layer': 'run on a layer',
  'writes=direct': 'run on the real files',
}

/** Returns the whole rule as it is written to the file, on one line. */
export const ruleJson = (rule: ConfiguredRule): string =>
  `{ ${Object.entries(rule)
    .map(([key, value]) => `${safeJson(key)}: ${safeJson(value)}`)
    .join(', ')} }`
