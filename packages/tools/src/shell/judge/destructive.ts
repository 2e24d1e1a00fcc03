/** What is refused whatever the mode: the harm cannot be made good. */

import { hasOption, meansLong, operandsOf, optionValues } from './options.ts'
import { absolute, guarded, isDisk, vitalTarget } from './paths.ts'
import { entry } from './table.ts'
import { deny, type Finding, type Place } from './types.ts'
import type { Arg } from './value.ts'

type Check = (args: readonly Arg[], place: Place) => string | undefined

/** Why a command must not run; undefined where nothing here says so. */
export function destructive(name: string, args: readonly Arg[], place: Place): Finding | undefined {
  const reason = entry(ALWAYS, name) ?? byName(name) ?? entry(CHECKS, name)?.(args, place) ?? guardedTarget(name, args, place)
  return reason === undefined ? undefined : deny(reason)
}

const DISK = 'it overwrites or repartitions a disk'
const DOWN = 'it shuts the machine down'

const ALWAYS: Readonly<Record<string, string>> = {
  wipefs: DISK,
  blkdiscard: DISK,
  mkswap: DISK,
  pvremove: DISK,
  vgremove: DISK,
  lvremove: DISK,
  sgdisk: DISK,
  cfdisk: DISK,
  shutdown: DOWN,
  reboot: DOWN,
  halt: DOWN,
  poweroff: DOWN,
  telinit: DOWN,
  killall5: 'it ends every process',
}

const byName = (name: string): string | undefined =>
  /^(?:mkfs(?:\..+)?|mke2fs|newfs(?:_.+)?|mkntfs|mkdosfs)$/.test(name) ? DISK : undefined

/** The first of the targets whose loss is beyond repair. */
function lost(targets: readonly Arg[], place: Place, what: string): string | undefined {
  for (const target of targets) {
    const reason = vitalTarget(target, place)
    if (reason) return `${what} ${reason} (${target.text})`
  }
  return undefined
}

/** Disks, and folders of the system, named as targets. */
const onDisk = (targets: readonly Arg[], place: Place): string | undefined =>
  targets.some(({ text }) => isDisk(absolute(text, place) ?? text)) ? DISK : undefined

const recursive: Check = (args, place) => (hasOption(args, 'rR', ['--recursive']) ? lost(operandsOf(args), place, 'it changes') : undefined)

const rm: Check = (args, place) => {
  if (args.some(({ text }) => meansLong(text, '--no-preserve-root') && text.length > 4)) return 'it deletes even the root'
  const targets = operandsOf(args)
  if (hasOption(args, 'rR', ['--recursive'])) return lost(targets, place, 'it deletes')
  return (
    lost(
      targets.filter(({ text }) => !/\/?\*[^/]*$/.test(text)),
      place,
      'it deletes',
    ) ?? guardedWrite(targets, place)
  )
}

const moved: Check = (args, place) => {
  const [into] = optionValues(args, ['-t', '--target-directory'])
  const operands = operandsOf(args, ['-t', '--target-directory', '-S'])
  return lost(into === undefined ? operands.slice(0, -1) : operands, place, 'it moves')
}

const parted: Check = (args) => (args.length === 0 || hasOption(args, 'lhvV', ['--list', '--help', '--version']) ? undefined : DISK)

const kill: Check = (args) => {
  const words = args.map(({ text }) => text)
  if (words[0] === '-l' || words[0] === '-L') return undefined
  // After the signal `-1` is every process there is; alone it is a signal without a process.
  const targets = /^-(?:s|n|-signal)$/.test(words[0] ?? '')
    ? words.slice(2)
    : /^-\w/.test(words[0] ?? '') && words.length > 1
      ? words.slice(1)
      : words
  return targets.some((one) => one === '-1' || one === '1' || (one === '0' && targets.length > 1)) ? 'it ends every process' : undefined
}

const killByName: Check = (args) => {
  const targets = operandsOf(args, ['-u', '--user', '-U', '-s', '--signal', '-G', '-g', '-t', '-P'])
  const user = hasOption(
    args.filter(({ text }) => !/^-(?:[A-Z]{2,}|\d+)$/.test(text)),
    'uU',
    ['--user', '--euid', '--uid'],
  )
  return (user && targets.length === 0) ||
    targets.some(({ text }) => (/^(?:|\.|\.\*|\.\+|\^|\$|\^\.\*\$|\[?\^?\w?-?\w?\]?\*?)$/.test(text) && text.length !== 1) || text === '.')
    ? 'it ends every process'
    : undefined
}

const find: Check = (args, place) => {
  const first = args.findIndex(({ text }) => /^(?:-[a-zA-Z]{2,}|[(!])/.test(text))
  const starts = operandsOf(args.slice(0, first === -1 ? args.length : first))
  const tests = first === -1 ? [] : args.slice(first)
  const writes = optionValues(tests, ['-fprint', '-fprint0', '-fprintf', '-fls'])
    .map((text) => guardedText(text, place))
    .find((one) => one !== undefined)
  if (writes) return writes
  if (!tests.some(({ text }) => text === '-delete')) return undefined
  const filtered = tests.some(({ text }) =>
    /^-(?:i?name|i?path|i?regex|i?wholename|newer\w*|[acm]time|[acm]min|size|empty|user)$/.test(text),
  )
  return (
    lost(
      starts.filter((one) => !(filtered && isOwn(one, place))),
      place,
      'it deletes',
    ) ?? (starts.length === 0 && !filtered && place.cwd === place.workspace ? 'it deletes the whole workspace' : undefined)
  )
}

const isOwn = (arg: Arg, place: Place): boolean => {
  const path = absolute(arg.text, place)
  return path !== undefined && (path === place.workspace || path.startsWith(`${place.workspace}/`))
}

const dd: Check = (args, place) => {
  const to = args.flatMap(({ text }) => (text.startsWith('of=') ? [text.slice(3)] : []))
  return to.map((text) => guardedText(text, place)).find((one) => one !== undefined)
}

const shred: Check = (args, place) => {
  const targets = operandsOf(args, ['-n', '-s', '--iterations', '--size', '--random-source'])
  return onDisk(targets, place) ?? lost(targets, place, 'it destroys') ?? guardedWrite(targets, place)
}

const systemctl: Check = (args) =>
  operandsOf(args).some(({ text }) => /^(?:poweroff|reboot|halt|kexec|suspend|hibernate|emergency|rescue|soft-reboot)$/.test(text))
    ? DOWN
    : undefined

const history: Check = (args) => (hasOption(args, 'cdwra') ? 'it changes the history of the shell' : undefined)

const HISTORY = /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|SAVEHIST|HISTCONTROL|HISTIGNORE)$/
export const wipesHistory = (variable: string): boolean => HISTORY.test(variable)

const sync: Check = (args, place) =>
  args.some(({ text }) => /^--del/.test(text) || text === '--remove-source-files')
    ? lost(operandsOf(args, ['-e', '--exclude', '--include']).slice(-1), place, 'it deletes in')
    : undefined

const crontab: Check = (args) => (hasOption(args, 'l') && !hasOption(args, 'r') ? undefined : 'it changes what runs by itself')

const listens: Check = (args) =>
  args.some(({ text }) => /^-[a-zA-Z]*[ec]$|^--(?:exec|sh-exec|lua-exec)/.test(text)) ? 'it gives others a shell' : undefined

const has =
  (pattern: RegExp, reason: string): Check =>
  (args) =>
    args.some(({ text }) => pattern.test(text)) ? reason : undefined
const begins =
  (pattern: RegExp, reason: string): Check =>
  (args) =>
    pattern.test(
      operandsOf(args)
        .map(({ text }) => text)
        .join(' '),
    )
      ? reason
      : undefined

const CHECKS: Readonly<Record<string, Check>> = {
  rm,
  find,
  dd,
  shred,
  kill,
  systemctl,
  history,
  crontab,
  srm: rm,
  unlink: rm,
  rmdir: rm,
  rimraf: (args, place) => lost(operandsOf(args), place, 'it deletes'),
  trash: (args, place) => lost(operandsOf(args), place, 'it deletes'),
  del: rm,
  wipe: rm,
  'rimraf.js': (args, place) => lost(operandsOf(args), place, 'it deletes'),
  mv: moved,
  chmod: recursive,
  chown: recursive,
  chgrp: recursive,
  chattr: recursive,
  setfacl: recursive,
  chcon: recursive,
  chflags: recursive,
  fdisk: parted,
  sfdisk: parted,
  parted,
  gdisk: parted,
  cryptsetup: begins(/^(?:luksFormat|erase|luksErase|reencrypt)/, DISK),
  hdparm: has(/^--(?:security|yes-i-know|trim|write|make-bad)/, DISK),
  nvme: begins(/^(?:format|sanitize|write)/, DISK),
  mdadm: has(/^--(?:zero-superblock|stop|create)$/, DISK),
  zpool: begins(/^(?:destroy|labelclear|create)/, DISK),
  zfs: begins(/^destroy/, DISK),
  badblocks: (args) => (hasOption(args, 'w') ? DISK : undefined),
  diskutil: begins(/^(?:erase|partition|zero|secureErase|apfs delete)/i, DISK),
  btrfs: begins(/^(?:subvolume delete|device delete)/, DISK),
  tune2fs: (_, __) => DISK,
  init: begins(/^[06]$/, DOWN),
  loginctl: begins(/^(?:poweroff|reboot|halt|suspend)/, DOWN),
  pkill: killByName,
  killall: killByName,
  skill: killByName,
  rsync: sync,
  rclone: (args, place) =>
    begins(/^(?:purge|delete|sync)/, 'x')(args, place) ? lost(operandsOf(args).slice(1), place, 'it deletes') : undefined,
  journalctl: has(/^--(?:vacuum|rotate|flush)/, 'it changes logs'),
  dmesg: (args) => (hasOption(args, 'cC', ['--clear', '--read-clear']) ? 'it changes logs' : undefined),
  wevtutil: begins(/^(?:cl|clear-log)/, 'it changes logs'),
  logrotate: (args) => (hasOption(args, 'f', ['--force']) ? 'it changes logs' : undefined),
  nc: listens,
  ncat: listens,
  netcat: listens,
  socat: has(/(?:EXEC|SYSTEM|SHELL):/i, 'it gives others a shell'),
  ssh: () => undefined,
  set: (args) =>
    args.some(({ text }, at) => text === '+o' && args[at + 1]?.text === 'history') ? 'it changes the history of the shell' : undefined,
  visudo: () => 'it changes who may do what',
  passwd: () => 'it changes who may log in',
  chpasswd: () => 'it changes who may log in',
  useradd: () => 'it changes who may log in',
  userdel: () => 'it changes who may log in',
  usermod: () => 'it changes who may log in',
  adduser: () => 'it changes who may log in',
  deluser: () => 'it changes who may log in',
  swapoff: (args) => (hasOption(args, 'a', ['--all']) ? 'it takes memory from the machine' : undefined),
  git: (args) =>
    args.some(({ text }) => /^(?:core\.hooksPath|core\.fsmonitor|core\.sshCommand|credential\.helper)$/i.test(text)) &&
    args.some(({ text }) => text === 'config') &&
    !args.some(({ text }) => /^(?:--get|get|--unset|unset|--list)/.test(text)) &&
    operandsOf(args, ['-C', '-c', '-f', '--file']).length > 2
      ? 'it sets what git runs by itself'
      : undefined,
}

/** Operands that are written to. */
const WRITTEN: Readonly<Record<string, (args: readonly Arg[]) => readonly string[]>> = {
  tee: (args) => texts(operandsOf(args)),
  cp: toLast,
  mv: toLast,
  install: toLast,
  ln: toLast,
  scp: toLast,
  rsync: toLast,
  truncate: (args) => texts(operandsOf(args, ['-s', '-r', '--size', '--reference'])),
  touch: (args) => texts(operandsOf(args, ['-d', '-r', '-t'])),
  sponge: (args) => texts(operandsOf(args)),
  sed: (args) => (hasOption(args, 'i', ['--in-place'], 'ef') ? texts(operandsOf(args).slice(1)) : []),
  perl: (args) => (hasOption(args, 'i', [], 'eE') ? texts(operandsOf(args)) : []),
  sort: (args) => optionValues(args, ['-o', '--output']),
  curl: (args) => optionValues(args, ['-o', '--output', '--output-dir', '-D', '--dump-header', '-c', '--cookie-jar']),
  wget: (args) => optionValues(args, ['-O', '--output-document', '-P', '--directory-prefix', '-o']),
  tar: (args) =>
    hasOption(args, 'x', ['--extract', '--get'], 'fC') || /^[a-zA-Z]*x/.test(args[0]?.text ?? '')
      ? optionValues(args, ['-C', '--directory'])
      : [],
  unzip: (args) => optionValues(args, ['-d']),
  patch: (args) => texts(operandsOf(args)),
  ed: (args) => texts(operandsOf(args)),
  ex: (args) => texts(operandsOf(args)),
  vi: (args) => texts(operandsOf(args)),
  vim: (args) => texts(operandsOf(args)),
  nano: (args) => texts(operandsOf(args)),
  emacs: (args) => texts(operandsOf(args)),
  'ssh-keygen': (args) => optionValues(args, ['-f']),
  'ssh-copy-id': () => [],
  // To close a key file to others is good.
  chmod: (args) => texts(operandsOf(args).slice(1)).filter((text) => !/\/\.ssh(?:\/|$)/.test(text)),
  chown: (args) => texts(operandsOf(args).slice(1)),
  uniq: (args) => texts(operandsOf(args).slice(1)),
  xxd: (args) => texts(operandsOf(args).slice(1)),
  openssl: (args) => optionValues(args, ['-out']),
  gpg: (args) => optionValues(args, ['-o', '--output']),
}

const texts = (args: readonly Arg[]): readonly string[] => args.map(({ text }) => text)

function toLast(args: readonly Arg[]): readonly string[] {
  const into = optionValues(args, ['-t', '--target-directory'])
  return into.length > 0 ? into : texts(operandsOf(args).slice(-1))
}

function guardedTarget(name: string, args: readonly Arg[], place: Place): string | undefined {
  return entry(
    WRITTEN,
    name,
  )?.(args)
    .map((text) => guardedText(text, place))
    .find((one) => one !== undefined)
}

export const guardedText = (text: string, place: Place): string | undefined => {
  const path = absolute(text, place)
  return path === undefined ? undefined : guarded(path, place)
}

const guardedWrite = (targets: readonly Arg[], place: Place): string | undefined =>
  targets.map(({ text }) => guardedText(text.replace(/\/\*[^/]*$/, ''), place)).find((one) => one !== undefined)
