/** The result of a benchmark, and how it is printed. */

export interface Row {
  readonly subject: string
  /** By column; the name of the column contains the unit. */
  readonly values: Readonly<Record<string, number>>
  readonly aim?: { readonly says: string; readonly met: boolean }
}

export interface Table {
  readonly title: string
  readonly rows: readonly Row[]
  /** What was measured, or why nothing was. */
  readonly note?: string
}

/** The Markdown table. */
export function markdown({ title, rows, note }: Table): string {
  const columns = [...new Set(rows.flatMap(({ values }) => Object.keys(values)))]
  const lines = [`### ${title}`, '', ...(note === undefined ? [] : [note, ''])]
  if (rows.length === 0) return lines.join('\n')
  lines.push(`| | ${columns.join(' | ')} | aim |`, `|---|${columns.map(() => '--:|').join('')}---|`)
  for (const { subject, values, aim } of rows) {
    const cells = columns.map((column) => digits(values[column]))
    lines.push(`| ${subject} | ${cells.join(' | ')} | ${aim ? `${aim.says}${aim.met ? '' : ': **missed**'}` : ''} |`)
  }
  return [...lines, ''].join('\n')
}

/** At most three significant digits; counts are not rounded. */
function digits(value: number | undefined): string {
  if (value === undefined) return ''
  if (Number.isInteger(value)) return String(value)
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}
