/** Temporary folders for tests: a working folder, and a home folder with the user's own files. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface TestFolders {
  /** The home folder. */
  readonly root: string
  /** The working folder. */
  readonly dir: string
  readonly data: string
  readonly write: (path: string, text: string) => void
  readonly has: (path: string) => boolean
  readonly read: (path: string) => string
  readonly [Symbol.dispose]: () => void
}

/** Variables that keep tests from finding model servers on this machine: nothing listens on this port. */
export const NO_SERVERS = {
  OLLAMA_HOST: 'http://127.0.0.1:1',
  MULLIGAN_LMSTUDIO_URL: 'http://127.0.0.1:1',
  MULLIGAN_LLAMACPP_URL: 'http://127.0.0.1:1',
  MULLIGAN_VLLM_URL: 'http://127.0.0.1:1',
} as const

export function place(files: Readonly<Record<string, string>> = {}): TestFolders {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'mulligan-place-')))
  const dir = join(root, 'work')
  mkdirSync(dir)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return {
    ...{ root, dir, write },
    data: join(root, 'data'),
    has: (path) => existsSync(join(dir, path)),
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}
