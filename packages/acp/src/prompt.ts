/** Reads an editor's prompt: text, mentioned files and their contents. Pure. */
import { isAbsolute, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContentBlock } from '@agentclientprotocol/sdk'

export interface EditorPrompt {
  /** What the person wrote, with mentions in their places. */
  readonly text: string
  /** Contents that the editor sent along, each under the name of its source. */
  readonly context: readonly string[]
  /** Mentioned files, relative to the folder. */
  readonly mentions: readonly string[]
}

/** Characters of one embedded text. The model can read the rest of a file. */
const MAX_EMBEDDED = 100_000

export function readPrompt(blocks: readonly ContentBlock[], cwd: string): EditorPrompt {
  const words: string[] = []
  const context: string[] = []
  const mentions = new Set<string>()
  const mention = (uri: string): string => {
    const path = pathOf(uri, cwd)
    if (path === undefined) return uri
    mentions.add(path)
    return `@${path}`
  }
  for (const block of blocks) {
    if (block.type === 'text') words.push(block.text)
    else if (block.type === 'resource_link') words.push(mention(block.uri))
    else if (block.type === 'resource') {
      const { resource } = block
      const name = mention(resource.uri)
      words.push(name)
      if ('text' in resource) context.push(embedded(name, resource.text))
      else context.push(`[${name} is not text and was left out.]`)
    } else context.push(`[The editor sent ${block.type === 'image' ? 'an image' : 'audio'}, which can't be read here.]`)
  }
  return { text: words.join('').trim(), context, mentions: [...mentions] }
}

/** Fences a text with more backticks than any run in it, so that it can't end the fence. */
function embedded(name: string, text: string): string {
  const cut = text.length > MAX_EMBEDDED ? `${text.slice(0, MAX_EMBEDDED)}\n… ${text.length - MAX_EMBEDDED} more characters` : text
  const longest = Math.max(2, ...(cut.match(/`{3,}/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `Content of ${name}:\n${fence}\n${cut}\n${fence}`
}

/** Returns the path of a file in the folder, relative to it. */
function pathOf(uri: string, cwd: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined
  try {
    const path = relative(cwd, fileURLToPath(new URL(uri.replace(/[?#].*$/, ''))))
    return path === '' || path.startsWith('..') || isAbsolute(path) ? undefined : path
  } catch {
    return undefined
  }
}

/** Splits `/name arguments`. */
export function commandIn(text: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ''] = /^\/([a-z0-9][a-z0-9_:-]*)(?:\s+([\s\S]*))?$/.exec(text) ?? []
  return name === undefined ? undefined : { name, args: args.trim() }
}
