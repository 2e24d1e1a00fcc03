/** The YAML between two `---` lines at the start of a Markdown file. */
export interface FrontMatter {
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: string
}

const BLOCK = /^---[ \t]*\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/

/** @throws Error in a sentence, when it is there and is none */
export async function frontMatter(text: string): Promise<FrontMatter> {
  const [block, yaml] = BLOCK.exec(text) ?? []
  if (block === undefined || yaml === undefined) return { fields: {}, body: text.trim() }
  const { parse } = await import('yaml')
  const fields: unknown = parse(yaml, { maxAliasCount: 10, logLevel: 'silent' }) ?? {}
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    throw new Error('its front matter must be a list of "key: value"')
  return { fields: fields as Record<string, unknown>, body: text.slice(block.length).trim() }
}
