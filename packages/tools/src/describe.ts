import { readFileSync } from 'node:fs'

/**
 * The `description.md` beside a tool, with `{{NAME}}` replaced by the limit of that name, so that text and limit can't drift apart.
 *
 * @param here `import.meta.url` of the tool's module
 * @throws TypeError when the text asks for a value that is not given
 */
export function describe(here: string, values: Readonly<Record<string, string | number>> = {}): string {
  const text = readFileSync(new URL('description.md', here), 'utf8').trim()
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`description.md asks for {{${name}}}, which has no value`)
    return typeof value === 'number' ? withCommas(value) : value
  })
}

/** Not by `toLocaleString`: what it loads on its first use takes a tenth of a start. */
const withCommas = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ',')
