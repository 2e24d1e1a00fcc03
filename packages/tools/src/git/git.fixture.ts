/** Test helpers: a real repository in a temporary folder with its own home, and plain git to compare with our tools. */
import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tool } from '@mulligan/core'
import { vi } from 'vitest'
import { createWorkspace } from '../create-workspace.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { put, temporary } from '../workspace.fixture.ts'
import { type GitOptions, gitTools } from './index.ts'

export interface RepositoryFixture {
  readonly root: string
  readonly workspace: Workspace
  readonly tool: (name: string) => Tool
  /** Runs plain git, as a user would. */
  readonly git: (...args: string[]) => string
  readonly put: (files: Readonly<Record<string, string | Uint8Array>>) => void
  /** Commits everything. */
  readonly save: (message?: string) => void
}

/** Points `HOME` to an empty folder, so that git finds no user settings. */
export function freshHome(): string {
  const home = temporary()
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CONFIG_HOME', join(home, '.config'))
  for (const name of Object.keys(process.env)) if (name.startsWith('GIT_') || name === 'EMAIL') vi.stubEnv(name, undefined)
  return home
}

export interface FixtureOptions extends GitOptions {
  /** The workspace's folder, relative to the top of the repository. */
  readonly below?: string
  readonly identity?: boolean
}

export function repository(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  { below = '.', identity = true, ...options }: FixtureOptions = {},
): RepositoryFixture {
  const root = temporary()
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      // A triggered trap may wait forever.
      timeout: 5000,
      killSignal: 'SIGKILL',
      env: { ...process.env, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  git('init', '--quiet', '--initial-branch=main')
  if (identity) {
    git('config', 'user.name', 'Ann')
    git('config', 'user.email', 'ann@example.org')
  }
  const save = (message = 'one'): void => {
    git('add', '--all')
    git('commit', '--quiet', '--message', message)
  }
  put(root, files)
  if (Object.keys(files).length > 0) save()
  const workspace = createWorkspace(join(root, below))
  const tools = gitTools(workspace, options)
  return {
    root,
    workspace,
    git,
    save,
    put: (more) => put(root, more),
    tool: (name) => {
      const found = tools.find((tool) => tool.name === name)
      if (!found) throw new Error(`no tool ${name}`)
      return found
    },
  }
}

/** Creates a program that leaves a file behind when it runs, and passes its input through. */
export function canary(folder: string, name = 'canary'): { readonly script: string; readonly sign: string } {
  const script = join(folder, `${name}.sh`)
  const sign = join(folder, `${name}.ran`)
  writeFileSync(script, `#!/bin/sh\ntouch '${sign}'\ncat\n`)
  chmodSync(script, 0o755)
  return { script, sign }
}
