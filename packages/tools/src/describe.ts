import { readFileSync } from 'node:fs'

/**
 * Returns the `description.md` next to a tool, with `{{NAME}}` replaced by the limit of that name, so that the text always states the
 * actual limits.
 *
 * @param here `import.meta.url` of the tool's module
 * @throws TypeError if the text uses a value that is not given
 */
export function describe(here: string, values: Readonly<Record<string, string | number>> = {}): string {
  const text = readFileSync(new URL('description.md', here), 'utf8').trim()
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`description.md asks for {{${name}}}, which has no value`)
    return typeof value === 'number' ? withCommas(value) : value
  })
}

/** Avoids `toLocaleString`, whose data loads on first use and takes a tenth of the startup time. */
const withCommas = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ',')
