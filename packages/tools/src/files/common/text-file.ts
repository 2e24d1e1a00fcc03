/** A file to be changed: its text, and what is needed to write it back byte for byte. */
import { fstatSync, readFile } from 'node:fs'
import { promisify } from 'node:util'
import { ToolFailure } from '@mulligan/core'
import { sha256 } from '../../sha256.ts'
import type { Resolved } from '../../workspace/change.ts'
import { withFile } from '../../workspace/contain.ts'
import { about } from '../../workspace/errors.ts'
import { decode, type Encoding, sniff } from './encoding.ts'
import type { FileLimits } from './limits.ts'
import { HEAD_BYTES } from './magic.ts'
import { size } from './page.ts'

/** Reads a whole open file. */
export const readAll: (fd: number) => Promise<Buffer<ArrayBuffer>> = promisify(readFile)

export interface TextFile {
  readonly text: string
  readonly hash: string
  readonly encoding: Encoding
}

/**
 * @param replaces whether the whole file is replaced. Its text is then only compared, so it need not be decodable
 * @throws ToolFailure for a file that can't be written back byte for byte
 */
export async function readTextFile(
  file: Resolved,
  { editBytes }: FileLimits,
  { tool, parameter, replaces = false }: { readonly tool: string; readonly parameter: string; readonly replaces?: boolean },
): Promise<TextFile> {
  const refuse = (why: string): ToolFailure => {
    const says = `"${file.relative}" ${why}, which ${tool} does not ${replaces ? 'replace.' : 'change. Nothing was written.'}`
    const most = size(editBytes)
    const constraint = replaces ? `a text file of at most ${most}, or a new path` : `text in UTF-8 or UTF-16 of at most ${most}`
    return new ToolFailure(says, about(parameter, file.relative, constraint, { errorType: 'unsupported' }))
  }
  const bytes = await withFile(file.root, file.absolute, (fd) => {
    const { size: length } = fstatSync(fd)
    if (length > editBytes) throw refuse(`is ${size(length)} long`)
    return readAll(fd)
  })
  const found = sniff(bytes.subarray(0, HEAD_BYTES))
  if (found.kind === 'binary') throw refuse(`is ${found.magic?.what ?? 'a binary file'}`)
  const encoding = found.kind === 'text' ? found.encoding : 'utf-8'
  const text = found.kind === 'text' || replaces ? decode(bytes, encoding) : undefined
  if (text === undefined && !replaces) throw refuse('contains bytes that are not valid UTF-8')
  return { text: text ?? bytes.toString('latin1'), hash: sha256(bytes), encoding }
}
