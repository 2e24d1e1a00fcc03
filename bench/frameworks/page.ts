/** The generated part of docs/comparison.md: the tables, and the code of the recommended settings. */
import { readFileSync } from 'node:fs'
import { type Framework, RECOMMENDED, sourceOf } from './frameworks.ts'
import type { Scenario, Verdict } from './scenarios.ts'

/** The outcomes of a scenario, by framework. */
export interface Row {
  readonly scenario: Scenario
  readonly verdicts: readonly Verdict[]
}

/** A table in which the best outcomes of each row are bold, unless all are equal. */
export function table(frameworks: readonly Framework[], rows: readonly Row[]): string {
  const head = ['', ...frameworks.map(({ name }) => name)]
  const lines = rows.map(({ scenario, verdicts }) => {
    const costs = verdicts.map(({ cost }) => cost)
    const best = Math.min(...costs)
    const isBold = (cost: number): boolean => cost === best && costs.some((other) => other > best)
    return [scenario.title, ...verdicts.map(({ says, cost }) => (isBold(cost) ? `**${says}**` : says))]
  })
  return [head, head.map(() => '---'), ...lines].map((line) => `| ${line.join(' | ')} |`).join('\n')
}

/** The function `recommended` of a driver, as it is in the file. */
export function recommendedCode(framework: Framework): string {
  const source = readFileSync(sourceOf(framework), 'utf8')
  return source.slice(source.indexOf('export const recommended')).trimEnd()
}

/** A section for each framework with recommended settings. */
export const settingsText = (): string =>
  RECOMMENDED.filter(({ settings }) => settings === 'recommended')
    .map((framework) => `**${framework.name}**\n\n\`\`\`typescript\n${recommendedCode(framework)}\n\`\`\``)
    .join('\n\n')

/** @returns the page with `text` between the marks of this name */
export function replaced(page: string, name: string, text: string): string {
  const [open, close] = [`<!-- npm run compare -- --write: ${name} -->`, `<!-- end of ${name} -->`]
  const [before, after] = [page.indexOf(open), page.indexOf(close)]
  if (before === -1 || after < before) throw new Error(`the page has no place for ${name}: ${open} … ${close}`)
  return `${page.slice(0, before + open.length)}\n\n${text}\n\n${page.slice(after)}`
}
