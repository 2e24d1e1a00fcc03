/** Renders the exports of a package as a Markdown page. Pure. */
import type { Exported } from './exports.ts'

const SECTIONS = [
  ['function', 'Functions'],
  ['class', 'Classes'],
  ['value', 'Values'],
  ['type', 'Types'],
] as const

export interface PageOptions {
  /** `@mulligan/core` */
  readonly name: string
  readonly description: string
  /** The package that an export comes from, if it is another one. */
  readonly from: (one: Exported) => string | undefined
}

export function pageOf(all: readonly Exported[], { name, description, from }: PageOptions): string {
  const own = all.filter((one) => from(one) === undefined)
  const others = Map.groupBy(
    all.filter((one) => from(one) !== undefined),
    (one) => from(one) as string,
  )
  const sections = SECTIONS.flatMap(([kind, title]) => {
    const here = own.filter((one) => one.kind === kind)
    return here.length === 0 ? [] : [`## ${title}`, ...here.map(entryOf)]
  })
  const handedOn = [...others].map(
    ([other, names]) => `From [${other}](${fileName(other)}): ${names.map((one) => `\`${one.name}\``).join(', ')}.`,
  )
  const head = [
    `# ${name}`,
    `${description} Generated from the declarations of the package: \`node scripts/api-docs.ts\` writes it again.`,
    ...handedOn,
  ]
  return `${[...head, ...sections].join('\n\n')}\n`
}

/** `@mulligan/core/executor` → `core-executor.md`. */
export const fileName = (name: string): string => `${name.split('/').slice(1).join('-')}.md`

function entryOf({ name, doc, declaration }: Exported): string {
  return [`### ${name}`, ...textOf(doc), `\`\`\`ts\n${declaration}\n\`\`\``].join('\n\n')
}

/** A JSDoc comment as Markdown: its text, then its tags. */
function textOf(doc: string): string[] {
  const [says = '', ...tags] = doc.split(/^(?=@\w+)/m)
  return [says, ...tags.map(tagText)].map((text) => linksAsCode(text).trim()).filter((text) => text !== '')
}

function tagText(tag: string): string {
  const [, name = '', text = ''] = /^@(\w+)\s*([\s\S]*)$/.exec(tag) ?? []
  if (name === 'example') return `\`\`\`ts\n${text.trim()}\n\`\`\``
  if (name === 'param') return text.replace(/^(\S+)\s*(?:-\s*)?/, '`$1`: ')
  return `**${name === 'returns' ? 'Returns' : name === 'throws' ? 'Throws' : name}** ${text}`
}

const linksAsCode = (text: string): string => text.replace(/\{@link\s+([^}]+)\}/g, '`$1`')
