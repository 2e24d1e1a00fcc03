/**
 * Defines the shell that runs in a container permanently and executes one command after another from its stdin, and parses its
 * output. It replaces the engines' `exec`, which can't be killed, takes a tenth of a second, and in Podman leaves processes behind
 * for minutes. Pure, except for the readers' state.
 */
import type { Launch } from '../../backend.ts'
import { quote } from '../../run/standby.ts'

/**
 * Process 1 waits for both halves of a pipe, and so also reaps processes that commands leave behind. The first half reads: when
 * stdin ends, the owner has died, and everything is killed. The second half runs the commands in the foreground, since background
 * jobs of a shell ignore SIGINT; the shell's own messages ("Killed") are discarded. Commands can write to the pipe, so a line
 * counts only if it starts with a secret: the very first line, which no command has seen. A command can kill the shell that runs
 * it, and the engine would wait for it forever. So another shell waits for that one and ends everything when it is gone, and vice
 * versa.
 */
const WORKER = `
exec 3>&2 2>/dev/null
oom() {
  n=0
  for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r $f ] && while read -r k v; do [ "$k" = oom_kill ] && n=$v; done < $f
  done
}
mark() {
  oom
  watched
  printf '\\036%s %s %s\\036' "$1" "$2" "$n"
  printf '\\036%s %s %s\\036' "$1" "$2" "$n" >&3
}
watched() {
  read -r _ _ _ parent _ </proc/self/stat
  [ "$parent" != 1 ] && return
  kill -9 -1
  exit
}
{
  while IFS= read -r line; do printf '%s\\n' "$line"; done
  kill -9 -1
} | {
  (
    IFS= read -r secret
    while IFS= read -r line; do
      case $line in "$secret "*) watched; eval "$(printf %b "\${line#* }")" ;; esac
    done
  )
  kill -9 -1
}
exit
`
export const WORKER_ARGV: readonly string[] = ['/bin/sh', '-c', WORKER]

/** The number of processes of the idle worker: process 1, the two halves, and the shell that runs commands. */
export const WORKER_PROCESSES = 4

/**
 * Returns the line that makes the worker run a command and print the mark when it has ended. It is sent after the worker's secret
 * and a space.
 *
 * @param stdin path of a file inside
 */
export function instruction({ argv, cwd, env }: Pick<Launch, 'argv' | 'cwd' | 'env'>, nonce: string, stdin = '/dev/null'): string {
  const words = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...argv].map(quote)
  return `${printable(`(exec 0<${quote(stdin)} 2>&3 3>&-; cd ${quote(cwd)} && exec env -i ${words.join(' ')}); mark ${nonce} $?`)}\n`
}

/** Escapes text for `printf %b`, including control characters: some engines interpret Ctrl-P Ctrl-Q as "detach". */
const printable = (text: string): string =>
  text.replaceAll('\\', '\\\\').replace(/[\x00-\x1f\x7f]/g, (character) => `\\0${character.charCodeAt(0).toString(8).padStart(3, '0')}`)

export interface Mark {
  readonly exitCode: number
  /** Processes killed for lack of memory since the container was started. */
  readonly oomKills: number
}

/**
 * Extracts the output of one command from a stream shared by successive commands. The output ends with `RS nonce SP exit-code SP
 * kills-for-memory RS`, which the worker prints on both streams and nobody else knows.
 *
 * @returns a function that takes the bytes as they arrive; bytes that may be the start of the mark are held back until this is
 * known
 */
export function createUntilMark(nonce: string): (chunk: Buffer) => { readonly bytes: Buffer; readonly mark?: Mark } {
  const whole = new RegExp(`\\x1e${nonce} (\\d{1,3}) (\\d{1,20})\\x1e`)
  const begun = new RegExp(`^${nonce}( (\\d{0,3}|\\d{1,3} \\d{0,20}))?$`)
  let held = Buffer.alloc(0)
  let isOver = false

  return (chunk) => {
    if (isOver) return { bytes: Buffer.alloc(0) }
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const text = all.toString('latin1')
    const mark = whole.exec(text)
    isOver = mark !== null
    if (mark) return { bytes: all.subarray(0, mark.index), mark: { exitCode: Number(mark[1]), oomKills: Number(mark[2]) } }
    const last = text.lastIndexOf('\x1e')
    const tail = text.slice(last + 1)
    const end = last !== -1 && (nonce.startsWith(tail) || begun.test(tail)) ? last : all.length
    held = Buffer.from(all.subarray(end))
    return { bytes: all.subarray(0, end) }
  }
}

export type StreamName = 'stdout' | 'stderr'

export interface Frame {
  readonly stream: StreamName
  readonly bytes: Buffer
}

const HEADER = 8
const STREAMS: readonly (StreamName | undefined)[] = ['stdout', 'stdout', 'stderr']

/**
 * Parses the stream of an attached container: frames with a stream number, three zero bytes, a length, and that many bytes.
 *
 * @returns a function that takes the bytes as they arrive, split anywhere, and returns the complete frames
 */
export function createFrameReader(): (chunk: Buffer) => readonly Frame[] {
  let held: Buffer = Buffer.alloc(0)
  return (chunk) => {
    const frames: Frame[] = []
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    while (held.length >= HEADER) {
      const end = HEADER + held.readUInt32BE(4)
      if (held.length < end) break
      const stream = STREAMS[held[0] ?? -1]
      if (stream) frames.push({ stream, bytes: held.subarray(HEADER, end) })
      held = held.subarray(end)
    }
    return frames
  }
}
