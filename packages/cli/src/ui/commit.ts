/** What a call of `git_commit` made. */
import type { ToolResult } from '@mulligan/core'
import { oneLine } from '@mulligan/host/light'

export interface Commit {
  readonly hash: string
  readonly subject: string
}

export function commitOf({ tool, result }: { readonly tool: string; readonly result: ToolResult }): Commit | undefined {
  if (tool !== 'git_commit' || !result.ok) return undefined
  const { hash, subject } = (result.data ?? {}) as { readonly hash?: unknown; readonly subject?: unknown }
  return typeof hash === 'string' && typeof subject === 'string' ? { hash, subject } : undefined
}

const SHORT = 7

export const shortHash = ({ hash }: Commit): string => oneLine(hash.slice(0, SHORT))
export const commitText = (commit: Commit): string => `${shortHash(commit)} ${oneLine(commit.subject, 100)}`
