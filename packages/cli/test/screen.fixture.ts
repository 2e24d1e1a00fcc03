/** Runs a program on a real screen, provided by tmux: tests send keys and read the screen. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Milliseconds after which {@link Screen.until} gives up. */
const PATIENCE = 60_000
const BETWEEN_LOOKS = 20

export interface ScreenOptions {
  /** Default 80. */
  readonly columns?: number
  /** Default 24. */
  readonly rows?: number
  /** The environment. Of the tests' own environment, only `PATH` is passed on. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface Cursor {
  readonly column: number
  readonly row: number
  readonly shown: boolean
}

export type Pattern = string | RegExp | ((text: string) => boolean)

export interface Screen {
  /** Sends keys by their tmux names (`Enter`, `Escape`, `Up`, `BSpace`, `C-a`, `M-b`), or text to type. */
  readonly keys: (...keys: readonly string[]) => Promise<void>
  /** Types text, without treating it as the name of a key. Control characters are sent as they are: `'\x1b[13;2u'`. */
  readonly type: (text: string) => Promise<void>
  /** Pastes as a terminal does: line ends become CR, and the paste is bracketed if the program requested it. */
  readonly paste: (text: string) => Promise<void>
  /** Returns the screen, without trailing blanks and blank lines; with `colors`, including escape sequences. */
  readonly text: (how?: { readonly colors?: boolean }) => Promise<string>
  /** Like `text`, including what has scrolled away. */
  readonly all: () => Promise<string>
  readonly cursor: () => Promise<Cursor>
  readonly resize: (columns: number, rows: number) => Promise<void>
  /** Waits until the screen matches the pattern, and returns the text. @throws Error with the screen that never matched */
  readonly until: (pattern: Pattern) => Promise<string>
  /**
   * Like `until`, and also waits for the cursor: a program that hides it while starting reads keys once it is shown. Earlier keys may be
   * lost.
   */
  readonly ready: (pattern: Pattern) => Promise<string>
  /** Waits until the program has ended. @returns its exit code, or 128 plus the signal number */
  readonly ended: () => Promise<number>
  readonly kill: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Whether tmux is available. Always true in CI, so that tests that need it fail without it. */
export const hasScreen = ((): boolean => {
  if (process.env['CI'] !== undefined) return true
  try {
    execFileSync('tmux', ['-V'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** Escapes a semicolon at the end of an argument, which tmux would interpret. */
const word = (text: string): string => text.replace(/;$/, '\\;')

const holds = (text: string, pattern: Pattern): boolean =>
  typeof pattern === 'string' ? text.includes(pattern) : typeof pattern === 'function' ? pattern(text) : pattern.test(text)

/** Wraps the command to write its exit code to a file, because tmux sometimes loses it. The shell survives a Ctrl-C sent to the program. */
const noted = (file: string, command: readonly string[]): readonly string[] => [
  ...['/bin/sh', '-c', 'trap : INT; file=$1; shift; "$@"; echo $? > "$file"', 'sh', file],
  ...command,
]

/** Starts the command, without a shell parsing it. Each screen has a separate tmux server, so tests can run in parallel. */
export async function openScreen(command: readonly string[], options: ScreenOptions = {}): Promise<Screen> {
  const { columns = 80, rows = 24, cwd = process.cwd() } = options
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-screen-'))
  const socket = join(folder, 'tmux')
  const exit = join(folder, 'exit')
  const env = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', NO_COLOR: '1', SHELL: '/bin/sh', HOME: folder, ...options.env }
  const flags = ['-u', '-S', socket, '-f', '/dev/null']

  const tmux = (args: readonly string[], stdin?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = execFile('tmux', [...flags, ...args], { env, cwd, encoding: 'utf8', maxBuffer: 64 << 20 }, (error, stdout, stderr) =>
        error ? reject(new Error(`tmux ${args[0]}: ${stderr.trim() || error.message}`)) : resolve(stdout),
      )
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(stdin)
    })

  const closeNow = (): void => {
    try {
      execFileSync('tmux', [...flags, 'kill-server'], { stdio: 'ignore' })
    } catch {
      // The server is already gone.
    }
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', closeNow)

  const settings = ['default-terminal xterm-256color', 'remain-on-exit on', 'remain-on-exit-format ', 'history-limit 10000', 'status off']
  // `escape-time` is how long tmux would delay an Escape.
  const first = ['start-server', ';', 'set', '-s', 'escape-time', '0', ';', 'set', '-s', 'extended-keys', 'on']
  for (const setting of settings) first.push(';', 'set', '-g', ...setting.split(' '))
  const size = ['-x', String(columns), '-y', String(rows)]
  await tmux([...first, ';', 'new-session', '-d', ...size, '-c', cwd, '--', ...noted(exit, command).map(word)])

  const captured = async (...more: string[]): Promise<string> => (await tmux(['capture-pane', '-p', ...more])).trimEnd()
  const asked = async (format: string): Promise<string> => (await tmux(['display-message', '-p', format])).trim()
  const text: Screen['text'] = ({ colors = false } = {}) => captured(...(colors ? ['-e'] : []))

  async function waitFor<T>(look: () => Promise<T | undefined>, otherwise: () => Promise<string>): Promise<T> {
    for (const end = Date.now() + PATIENCE; ; ) {
      const found = await look()
      if (found !== undefined) return found
      if (Date.now() > end) throw new Error(await otherwise())
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_LOOKS))
    }
  }

  async function cursor(): Promise<Cursor> {
    const [column = 0, row = 0, flag = 0] = (await asked('#{cursor_x} #{cursor_y} #{cursor_flag}')).split(' ').map(Number)
    return { column, row, shown: flag === 1 }
  }

  const until = (pattern: Pattern): Promise<string> =>
    waitFor(
      async () => {
        const now = await text()
        return holds(now, pattern) ? now : undefined
      },
      async () => `The screen never held ${pattern}. It holds:\n${await text()}`,
    )

  async function kill(): Promise<void> {
    process.off('exit', closeNow)
    await tmux(['kill-server']).catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }

  return {
    keys: async (...keys) => void (await tmux(['send-keys', '--', ...keys.map(word)])),
    type: async (typed) => void (await tmux(['send-keys', '-l', '--', word(typed)])),
    paste: async (pasted) => {
      await tmux(['load-buffer', '-'], pasted)
      await tmux(['paste-buffer', '-p'])
    },
    text,
    all: () => captured('-S', '-'),
    cursor,
    resize: async (x, y) => void (await tmux(['resize-window', '-x', String(x), '-y', String(y)])),
    until,
    ready: async (pattern) => {
      await until(pattern)
      await waitFor(
        async () => (await cursor()).shown || undefined,
        async () => `No cursor was ever shown on:\n${await text()}`,
      )
      return text()
    },
    ended: () =>
      waitFor(
        async () => {
          const code = existsSync(exit) ? readFileSync(exit, 'utf8') : ''
          return code.endsWith('\n') ? Number(code) : undefined
        },
        async () => `The program never ended. The screen holds:\n${await text()}`,
      ),
    kill,
    [Symbol.asyncDispose]: kill,
  }
}
