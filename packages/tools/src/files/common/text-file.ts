/** A file that is to be changed: its text, and what it takes to write it back byte for byte. */
import { ToolFailure } from '@mulligan/core'
import { sha256 } from '../../sha256.ts'
import type { Resolved } from '../../workspace/workspace.ts'
import { decode, type Encoding, sniff } from './encoding.ts'
import { readWhole } from './file-bytes.ts'
import type { FileLimits } from './limits.ts'
import { HEAD_BYTES } from './magic.ts'
import { size } from './page.ts'

export interface TextFile {
  readonly text: string
  readonly hash: string
  readonly encoding: Encoding
}

export interface Asked {
  readonly tool: string
  readonly parameter: string
}

/** @throws ToolFailure for what can't be written back byte for byte */
export async function readTextFile(file: Resolved, { editBytes }: FileLimits, { tool, parameter }: Asked): Promise<TextFile> {
  const refuse = (why: string): ToolFailure =>
    new ToolFailure(`"${file.relative}" ${why}, which ${tool} does not change. Nothing was written.`, {
      errorType: 'unsupported',
      status: 'failed',
      parameter,
      value: file.relative,
      constraint: `text in UTF-8 or UTF-16 of at most ${size(editBytes)}`,
    })
  const { size: length, bytes } = await readWhole(file, editBytes)
  if (!bytes) throw refuse(`is ${size(length)} long`)
  const found = sniff(bytes.subarray(0, HEAD_BYTES))
  if (found.kind === 'binary') throw refuse(`is ${found.magic?.what ?? 'a binary file'}`)
  const text = found.kind === 'text' ? decode(bytes, found.encoding) : undefined
  if (text === undefined || found.kind !== 'text') throw refuse('is not text in UTF-8 throughout')
  return { text, hash: sha256(bytes), encoding: found.encoding }
}
