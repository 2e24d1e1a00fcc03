/**
 * What runs in a container all the time: a shell that takes one command after the other from the container's stdin. It is in
 * for the engines' `exec`, which can't be killed, takes a tenth of a second, and in podman leaves processes behind for minutes.
 * Pure.
 */
import type { Launch } from '../../backend.ts'

/**
 * Process 1 waits for the two halves of a pipe, and by that reaps what commands leave behind. The first half reads: when stdin
 * ends, the owner has died, and all that runs is killed. The second half runs the commands in the foreground, since a shell's
 * background jobs are deaf to SIGINT; the shell's own remarks ("Killed") go nowhere. Commands can write into the pipe, so that a
 * line counts only after a secret, the first line of all, which none of them has seen. A command can kill the shell that runs it, which would
 * then be waited for in vain: so another one waits for that shell, and ends all when it is gone; and that shell ends all when the
 * other one is.
 */
export const WORKER = `
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

/** Processes of the worker alone: 1, the two halves, and the shell that runs commands. */
export const WORKER_PROCESSES = 4

/**
 * What makes the worker run a command, and print the mark when it has ended: a line, after the worker's secret and a space.
 *
 * @param stdin a file inside
 */
export function instruction({ argv, cwd, env }: Pick<Launch, 'argv' | 'cwd' | 'env'>, nonce: string, stdin: string | undefined): string {
  const words = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...argv].map(quote)
  const input = stdin === undefined ? '/dev/null' : quote(stdin)
  return `${printable(`(exec 0<${input} 2>&3 3>&-; cd ${quote(cwd)} && exec env -i ${words.join(' ')}); mark ${nonce} $?`)}\n`
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** For `printf %b`. Control characters too: some engines take Ctrl-P Ctrl-Q for "detach". */
const printable = (text: string): string =>
  text.replaceAll('\\', '\\\\').replace(/[\x00-\x1f\x7f]/g, (character) => `\\0${character.charCodeAt(0).toString(8).padStart(3, '0')}`)
