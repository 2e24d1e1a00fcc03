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

/** A tmux server, which may have many screens. */
export interface Screens {
  /** Starts a command on a screen of its own, without a shell parsing it. */
  readonly open: (command: readonly string[], options?: ScreenOptions) => Promise<Screen>
  readonly [Symbol.asyncDispose]: () => Promise<void>
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
  /** Like `text`, including what has scrolled away. With `joined`, lines that the terminal has wrapped are one. */
  readonly all: (how?: { readonly joined?: boolean }) => Promise<string>
  /** Forgets what has scrolled away. */
  readonly forget: () => Promise<void>
  /** Returns everything that the program has written, with its escape sequences. */
  readonly written: () => string
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

/** Starts the command on a tmux server of its own, so tests can run in parallel. */
export async function openScreen(command: readonly string[], options: ScreenOptions = {}): Promise<Screen> {
  const screens = await openScreens()
  const close = screens[Symbol.asyncDispose]
  const screen = await screens.open(command, options).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return { ...screen, kill: close, [Symbol.asyncDispose]: close }
}

export async function openScreens(): Promise<Screens> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-screen-'))
  const socket = join(folder, 'tmux')
  const flags = ['-u', '-S', socket, '-f', '/dev/null']
  const basic = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', NO_COLOR: '1', SHELL: '/bin/sh', HOME: folder }
  let count = 0

  const tmux = (args: readonly string[], stdin?: string, more: { readonly env?: object; readonly cwd?: string } = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      const options = { env: { ...basic, ...more.env }, cwd: more.cwd ?? folder, encoding: 'utf8', maxBuffer: 64 << 20 } as const
      const child = execFile('tmux', [...flags, ...args], options, (error, stdout, stderr) =>
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

  async function close(): Promise<void> {
    process.off('exit', closeNow)
    await tmux(['kill-server']).catch(() => undefined)
    rmSync(folder, { recursive: true, force: true })
  }

  const settings = ['default-terminal xterm-256color', 'remain-on-exit on', 'remain-on-exit-format ', 'history-limit 10000', 'status off']
  // `escape-time` is how long tmux would delay an Escape.
  const first = [
    'start-server',
    ';',
    'set',
    '-s',
    'escape-time',
    '0',
    ';',
    'set',
    '-s',
    'extended-keys',
    'on',
    ';',
    'set',
    '-s',
    'exit-empty',
    'off',
  ]
  for (const setting of settings) first.push(';', 'set', '-g', ...setting.split(' '))

  async function open(command: readonly string[], options: ScreenOptions = {}): Promise<Screen> {
    const { columns = 80, rows = 24, cwd = process.cwd(), env = {} } = options
    const name = `screen${++count}`
    const exit = join(folder, `${name}.exit`)
    const raw = join(folder, `${name}.raw`)
    const size = ['-x', String(columns), '-y', String(rows)]
    const variables = Object.entries({ ...basic, ...env }).flatMap(([key, value]) => ['-e', `${key}=${value}`])
    const start = ['new-session', '-d', '-s', name, ...variables, ...size, '-c', cwd, '--', ...noted(exit, command).map(word)]
    const pipe = ['pipe-pane', '-t', name, '-O', `exec cat > '${raw}'`]
    await tmux([...(count === 1 ? [...first, ';'] : []), ...start, ';', ...pipe], undefined, { env, cwd })
    return screenNamed(name, exit, raw)
  }

  function screenNamed(name: string, exit: string, raw: string): Screen {
    const target = ['-t', name]
    const captured = async (...more: string[]): Promise<string> => (await tmux(['capture-pane', '-p', ...target, ...more])).trimEnd()
    const asked = async (format: string): Promise<string> => (await tmux(['display-message', '-p', ...target, format])).trim()
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

    const kill = async (): Promise<void> => void (await tmux(['kill-session', ...target]).catch(() => undefined))

    return {
      keys: async (...keys) => void (await tmux(['send-keys', ...target, '--', ...keys.map(word)])),
      type: async (typed) => void (await tmux(['send-keys', '-l', ...target, '--', word(typed)])),
      paste: async (pasted) => {
        await tmux(['load-buffer', '-b', name, '-'], pasted)
        await tmux(['paste-buffer', '-p', '-b', name, ...target])
      },
      text,
      all: ({ joined = false } = {}) => captured('-S', '-', ...(joined ? ['-J'] : [])),
      forget: async () => void (await tmux(['clear-history', ...target])),
      written: () => (existsSync(raw) ? readFileSync(raw, 'utf8') : ''),
      cursor,
      resize: async (x, y) => void (await tmux(['resize-window', ...target, '-x', String(x), '-y', String(y)])),
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

  return { open, [Symbol.asyncDispose]: close }
}
