/** Edits a text in the user's own editor, which has the terminal meanwhile. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Env, oneLine, UsageError } from '@mulligan/host/light'
import { safePath, startProgram } from '@mulligan/sandbox'

/** Bytes of a text that is taken back. */
const MAX_BYTES = 1024 * 1024

/**
 * Runs `VISUAL` or `EDITOR`, a command line of a shell as for git, with the path of a file that only the user can read.
 * @param signal ends the editor
 * @returns the text that was saved
 * @throws UsageError if there is no editor, or it failed: the text is to stay as it was
 */
export async function editInOwnEditor(text: string, env: Env, signal: AbortSignal): Promise<string> {
  const editor = [env['VISUAL'], env['EDITOR']].find((one) => one !== undefined && one.trim() !== '')
  if (editor === undefined) throw new UsageError('no editor is set', 'Set VISUAL or EDITOR before you start mulligan: export EDITOR=nano')
  const folder = await mkdtemp(join(tmpdir(), 'mulligan-prompt-'))
  try {
    const file = join(folder, 'prompt.md')
    await writeFile(file, text, { mode: 0o600 })
    const ended = await run(editor, file, env, signal)
    if (ended !== 'exit code 0')
      throw new UsageError(`the editor failed (${ended}): ${oneLine(editor, 80)}`, 'The text in the input is as it was.')
    return saved(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function run(editor: string, file: string, env: Env, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    // Remove the folders that `npx` prepended to the user's PATH.
    const options = { env: { ...env, PATH: safePath(env['PATH']) }, stdio: 'inherit' as const }
    const child =
      process.platform === 'win32'
        ? startProgram(join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'cmd.exe'), ['/d', '/s', '/c', `"${editor} "${file}""`], {
            ...options,
            windowsVerbatimArguments: true,
          })
        : startProgram('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], options)
    const stop = (): void => void child.kill('SIGTERM')
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const end = (ended: string): void => {
      signal.removeEventListener('abort', stop)
      resolve(ended)
    }
    child.on('error', ({ message }) => end(message))
    child.on('exit', (code, by) => end(code === 127 ? 'not found' : by ? `ended by ${by}` : `exit code ${code}`))
  })
}

/** Returns the file's text without its last line end. @throws UsageError */
function saved(file: string): string {
  const fd = openSync(file, 'r')
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new UsageError('the edited text is longer than 1 MB', 'The text in the input is as it was.')
    return readFileSync(fd, 'utf8').replace(/\r?\n$/, '')
  } finally {
    closeSync(fd)
  }
}
