/** Finds tools for a short query by matching its words against names, aliases, descriptions and parameters. */
import type { Tool } from '@mulligan/core'

/** Weights of a match, by where the word occurs. */
const WEIGHTS = { name: 6, alias: 5, description: 2, parameter: 1 } as const
/** Factors for a synonym and for a word with the same beginning. */
const SYNONYM = 0.5
const BEGINNING = 0.6
const MIN_BEGINNING = 4
/** Fraction of the best score below which a match is likely accidental. */
const FAR_BELOW = 0.3

/** Words that reveal nothing about a tool's purpose. */
const FILLERS = new Set(
  'a an and all are by can could do does for from how i if in into is it its me my need of on or our please some that the their them there these this to tool tools use using want what which with you your'.split(
    ' ',
  ),
)

/** Words that models use as synonyms. */
const SYNONYMS: readonly (readonly string[])[] = [
  'delete remove erase rm unlink trash',
  'move rename mv',
  'fetch download get retrieve',
  'web page website site internet online url http browser',
  'folder directory dir',
  'create make new mkdir',
  'change edit modify update replace patch fix',
  'search find grep look lookup',
  'run execute shell command bash terminal',
  'show view read open cat print',
  'history log',
  'commit checkin',
  'mail email inbox',
  'calendar event appointment meeting',
  'note vault',
  'todo task plan checklist',
  'ask question clarify',
].map((group) => group.split(' ').map(stem))

/** Returns the matching tools, best first; none if no word matches. */
export function searchTools(query: string, tools: readonly Tool[]): readonly Tool[] {
  const wanted = [...new Set(wordsOf(query))]
  const entries = tools.map((tool) => ({ tool, words: indexed(tool) }))
  const scores = new Map<Tool, number>()
  for (const word of wanted) {
    const hits = entries.map(({ words }) => match(word, words))
    const found = hits.filter((hit) => hit > 0).length
    if (found === 0) continue
    // A word that nearly every tool has is a weak signal.
    const rarity = Math.log(1 + tools.length / found)
    for (const [at, { tool }] of entries.entries()) scores.set(tool, (scores.get(tool) ?? 0) + (hits[at] ?? 0) * rarity)
  }
  const best = Math.max(0, ...scores.values())
  return tools
    .filter((tool) => best > 0 && (scores.get(tool) ?? 0) >= best * FAR_BELOW)
    .map((tool, at) => ({ tool, at, score: scores.get(tool) ?? 0 }))
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .map(({ tool }) => tool)
}

/** Maps each word of a tool to the weight of the best place where it occurs. */
function indexed({ name, aliases, description, inputSchema }: Tool): ReadonlyMap<string, number> {
  const words = new Map<string, number>()
  const add = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) words.set(word, Math.max(words.get(word) ?? 0, weight))
  }
  add(name, WEIGHTS.name)
  for (const alias of aliases) add(alias.name, WEIGHTS.alias)
  add(description, WEIGHTS.description)
  const parameters = inputSchema['properties']
  if (typeof parameters === 'object' && parameters !== null)
    for (const parameter of Object.keys(parameters)) add(parameter, WEIGHTS.parameter)
  return words
}

function match(word: string, words: ReadonlyMap<string, number>): number {
  let best = words.get(word) ?? 0
  const meanings = SYNONYMS.find((group) => group.includes(word)) ?? []
  for (const other of meanings) best = Math.max(best, (words.get(other) ?? 0) * SYNONYM)
  if (word.length < MIN_BEGINNING) return best
  for (const [other, weight] of words)
    if (other.length >= MIN_BEGINNING && (other.startsWith(word) || word.startsWith(other))) best = Math.max(best, weight * BEGINNING)
  return best
}

/** Splits a text, or a name in any case style, into stemmed words without fillers. */
const wordsOf = (text: string): string[] =>
  (
    text
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
    .filter((word) => !FILLERS.has(word))
    .map(stem)

/** Reduces a word to its stem: `changes`, `changed`, `changing` and `change` are the same. */
function stem(word: string): string {
  if (word.length <= 3) return word
  const singular = word.replace(/([^s])s$/, '$1')
  const base = singular.length > 5 ? singular.replace(/(?:ing|ed)$/, '') : singular
  return base
    .replace(/e$/, '')
    .replace(/y$/, 'i')
    .replace(/([^aeiou])\1$/, '$1')
}
