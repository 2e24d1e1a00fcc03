/** Programs before whose command nothing stands but their own options: `sudo`, `env`, `timeout`. */

export interface Prefix {
  /** Options whose value is the next argument. */
  readonly values?: string
  readonly longValues?: readonly string[]
  /** Operands before the command. */
  readonly operands?: number
  /** It takes `NAME=value` before the command. */
  readonly environment?: boolean
  readonly asks?: string
  /** Options that say where the command runs. */
  readonly chdir?: readonly string[]
  /** Options whose value is a script. */
  readonly script?: readonly string[]
  /** Options with which nothing is run. */
  readonly only?: RegExp
}

export const ROOT = 'it runs with the rights of another user'
export const OTHER = 'it runs a program under another'

/** Of most, all that is needed is where their own options end. */
export const PREFIXES: Readonly<Record<string, Prefix>> = {
  sudo: {
    values: 'ugpCThDRrt',
    longValues: ['--user', '--group', '--prompt', '--chdir', '--host'],
    environment: true,
    asks: ROOT,
    chdir: ['-D', '--chdir'],
  },
  doas: { values: 'uC', asks: ROOT },
  pkexec: { longValues: ['--user'], asks: ROOT },
  env: { values: 'uCS', longValues: ['--unset', '--chdir', '--split-string'], environment: true, chdir: ['-C', '--chdir'] },
  nice: { values: 'n', longValues: ['--adjustment'] },
  ionice: { values: 'cnpPu', longValues: ['--class', '--classdata'], asks: OTHER },
  chrt: { values: 'pTPD', operands: 1, asks: OTHER },
  taskset: { operands: 1, asks: OTHER },
  nohup: { asks: 'it goes on when the shell ends' },
  setsid: { asks: 'it goes on when the shell ends' },
  timeout: { values: 'ks', longValues: ['--kill-after', '--signal'], operands: 1 },
  stdbuf: { values: 'ioe', longValues: ['--input', '--output', '--error'] },
  time: { values: 'fo', longValues: ['--format', '--output'] },
  command: { only: /^-[a-z]*[vV]/ },
  builtin: {},
  exec: { values: 'a' },
  noglob: {},
  nocorrect: {},
  coproc: {},
  unbuffer: { asks: OTHER },
  fakeroot: { asks: OTHER },
  firejail: { asks: OTHER },
  catchsegv: { asks: OTHER },
  caffeinate: { values: 'tw', asks: OTHER },
  torsocks: { asks: OTHER },
  proxychains: { asks: OTHER },
  proxychains4: { asks: OTHER },
  setarch: { operands: 1, asks: OTHER },
  linux32: { asks: OTHER },
  linux64: { asks: OTHER },
  numactl: { values: 'CNmip', asks: OTHER },
  strace: { values: 'abeEIoOpPsSuUX', asks: OTHER },
  ltrace: { values: 'aelnopsuwxAF', asks: OTHER },
  valgrind: { asks: OTHER },
  unshare: { values: 'SGRw', asks: OTHER },
  nsenter: { values: 'tSGw', asks: OTHER },
  chroot: { operands: 1, asks: ROOT },
  setpriv: { asks: ROOT },
  capsh: { asks: ROOT },
  gosu: { operands: 1, asks: ROOT },
  'su-exec': { operands: 1, asks: ROOT },
  'systemd-run': { values: 'puEGHMt', longValues: ['--unit', '--property', '--description', '--slice'], asks: ROOT },
  'systemd-inhibit': { asks: OTHER },
  'dbus-run-session': { asks: OTHER },
  'xvfb-run': { values: 'aefnpsw', asks: OTHER },
  busybox: {},
  toybox: {},
  watch: { values: 'nq', longValues: ['--interval'], asks: 'it goes on until it is stopped' },
  flock: { values: 'wE', operands: 1, script: ['-c', '--command'], asks: OTHER },
  entr: { asks: OTHER },
  gdb: { asks: OTHER },
  faketime: { operands: 1, asks: OTHER },
  dotenv: { values: 'ef', asks: OTHER },
  direnv: { operands: 2, asks: OTHER },
  mise: { operands: 1, asks: OTHER },
  asdf: { operands: 1, asks: OTHER },
}
