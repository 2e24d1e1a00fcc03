/** A place for tests: a folder to work in, and the user's own files beside it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface TestFolders {
  /** The home folder. */
  readonly root: string
  /** The folder to work in. */
  readonly dir: string
  readonly data: string
  readonly write: (path: string, text: string) => void
  readonly has: (path: string) => boolean
  readonly read: (path: string) => string
  readonly [Symbol.dispose]: () => void
}

/** Where no model server is looked for on the machine of the tests: nobody listens on this port. */
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
