/** Programs that only read, and the arguments with which they do more. */

import { evaluates } from './evaluating.ts'
import { gitReads } from './git.ts'
import { hasOption, maybeOptions, meansLong, operandsOf } from './options.ts'
import { absolute, isInside } from './paths.ts'
import { readsWidely } from './reads-widely.ts'
import { changesNothing as awkReads, sedReads } from './text-programs.ts'
import type { Place } from './types.ts'
import { type Arg, isStatic } from './value.ts'

interface Rule {
  /** Letters of options with which it does more than read. */
  readonly not?: string
  readonly notLong?: readonly string[]
  /** Letters whose value follows, so that letters in the value do not count. */
  readonly values?: string
  /** More operands than these are written to. */
  readonly operands?: number
  /** What else must hold. */
  readonly when?: (args: readonly Arg[], place: Place) => boolean
}

/** Whatever their arguments, they only read, or change no more than the shell itself. */
const READERS = `ls dir vdir cat tac head tail grep egrep fgrep zgrep zcat bzcat xzcat wc nl od hexdump hd strings cut tr paste join comm fold fmt expand unexpand
  column pr rev cmp diff cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum md5 basename dirname realpath readlink stat
  file pathchk seq factor expr numfmt tsort echo printf true false : test [ pwd which whereis type id whoami groups logname who w users uname arch nproc
  uptime free lscpu lsblk lsmem lsusb lspci printenv locale getconf tty du df ps pgrep pstree pidof jq base64 base32 basenc cal ncal sleep wait jobs
  times umask break continue return exit shift let caller local declare typeset readonly export unset getopts read help tput dirs exa eza lsd tokei
  sw_vers vm_stat jp duf zdiff zcmp bzgrep xzgrep lsattr getfacl getent iostat vmstat mpstat netstat
  lsb_release dpkg-query readelf size addr2line c++filt infocmp hexyl look fgconsole disown`

const VERSIONED = `node npm npx pnpm bun deno tsc python python2 python3 pip pip3 pipx poetry uv ruby gem bundle perl php composer java javac mvn gradle kotlin scala go rustc cargo rustup
  gcc g++ cc c++ clang clang++ make cmake ninja meson bazel docker podman kubectl helm terraform git gh hg svn bash zsh sh fish vim nvim emacs curl wget ssh openssl sqlite3 psql mysql redis-cli
  mongo ffmpeg convert magick jest vitest eslint prettier biome mypy ruff black pytest tox dotnet swift swiftc lua luajit elixir mix erl ghc stack cabal ocaml opam nvm fnm pyenv rbenv asdf mise
  brew apt apt-get dpkg rpm yum dnf snap flatpak systemctl tmux screen rsync tar gzip zip unzip xz zstd sed awk gawk find xargs rg fd bat fzf ag tree less jq yq ansible vagrant packer aws gcloud az
  ldd strace gdb lldb valgrind turbo nx lerna webpack vite rollup esbuild next nuxt ng vue svelte-kit playwright cypress mocha ava tap nyc c8 tsx ts-node swc zig nim crystal julia R Rscript octave`

const none: Rule = {}

const RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(READERS.split(/\s+/).map((name) => [name, none])),
  sort: { not: 'oT', notLong: ['--output', '--compress-program', '--temporary-directory'], values: 'kt' },
  uniq: { operands: 1, values: 'fsw' },
  jobs: { not: 'x' },
  cloc: few(/^--(?:by-file|by-file-by-lang|json|csv|md|quiet|hide-rate|exclude-dir=[\w.,-]+|include-lang=[\w,+#]+)$/),
  scc: few(/^(?:-[abcdpvw]|--(?:by-file|no-complexity|no-cocomo))$/),
  'pip-licenses': few(/^--(?:format=\w+|with-urls|with-system|summary|order=\w+)$/),
  diff3: few(/^-[AeExX3maiT]$/),
  lsof: { not: 'D' },
  apropos: { not: 'C', notLong: ['--config-file'] },
  whatis: { not: 'C', notLong: ['--config-file'] },
  mapfile: { not: 'C', values: 'dnOsuc' },
  readarray: { not: 'C', values: 'dnOsuc' },
  nm: { notLong: ['--plugin'] },
  objdump: { notLong: ['--plugin'] },
  ss: { not: 'KD', notLong: ['--kill', '--diag'] },
  hash: { operands: 0, not: 'p' },
  rg: { notLong: ['--pre', '--hostname-bin'], when: (args) => !args.some(({ text }) => /^--pre(?:=|$)/.test(text)) },
  ag: { notLong: ['--pager'] },
  find: {
    when: (args) =>
      !args.some(({ text }) => /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from)$/.test(text)) && !maybePredicate(args),
  },
  fd: { not: 'xX', notLong: ['--exec', '--exec-batch'] },
  tree: { not: 'oR', values: 'LPIH', notLong: ['--output'] },
  date: {
    not: 's',
    notLong: ['--set'],
    values: 'dfIr',
    when: (args) => operandsOf(args, ['-d', '--date', '-f', '-r']).every(({ text }) => text.startsWith('+')),
  },
  hostname: { not: 'Fb', notLong: ['--file'], operands: 0 },
  file: { not: 'C', notLong: ['--compile'], values: 'mFPe' },
  env: { operands: 0, not: 'SC', notLong: ['--split-string', '--chdir'] },
  set: {
    when: (args) =>
      args.every(
        ({ text, dynamic }) =>
          !dynamic &&
          /^(?:[-+][abefhkmnptuvxBCEHPT]*o?|errexit|nounset|pipefail|xtrace|posix|allexport|noglob|verbose|noclobber|--)$/.test(text),
      ) || args[0]?.text === '--',
  },
  shopt: { when: (args) => !args.some(({ text }) => text === 'expand_aliases') },
  alias: { operands: 0 },
  history: { not: 'cdwranps' },
  ulimit: { when: (args) => args.every(({ text }) => /^-[a-zA-Z]+$/.test(text)) },
  command: { when: (args) => /^-[a-zA-Z]*[vV]/.test(args[0]?.text ?? '') },
  cd: { when: intoWorkspace },
  pushd: { when: intoWorkspace },
  popd: none,
  trap: { when: (args) => args.length === 0 || /^-[lp]?$/.test(args[0]?.text ?? '') || args[0]?.text === '' },
  exec: { operands: 0 },
  less: {
    not: 'oOkTt',
    notLong: ['--log-file', '--LOG-FILE', '--lesskey-file', '--lesskey-src'],
    values: 'PpxjbhyzD',
    when: (args) => !args.some(({ text }) => text.startsWith('+')),
  },
  more: { when: (args) => !args.some(({ text }) => text.startsWith('+')) },
  man: {
    not: 'PHCDRlrXuTtZ',
    notLong: [
      '--pager',
      '--html',
      '--config-file',
      '--browser',
      '--local-file',
      '--preprocessor',
      '--troff-device',
      '--prompt',
      '--gxditview',
      '--update',
      '--troff',
      '--ditroff',
    ],
  },
  bat: { notLong: ['--pager', '--lessopen', '--generate-config-file'], when: (args) => operandsOf(args)[0]?.text !== 'cache' },
  xxd: { not: 'r', values: 'clsgo', operands: 1 },
  iconv: { not: 'o', notLong: ['--output'], values: 'ft' },
  shuf: { not: 'o', notLong: ['--output', '--random-source'], values: 'ni' },
  yq: { not: 'is', notLong: ['--inplace', '--in-place', '--split-exp'] },
  sdiff: { not: 'o', notLong: ['--output', '--diff-program'], values: 'wI' },
  colordiff: none,
  crontab: { when: (args) => args.length > 0 && hasOption(args, 'l') && !hasOption(args, 'ire') },
  dmesg: { not: 'cCDEn', notLong: ['--clear', '--read-clear', '--console-on', '--console-off', '--console-level'] },
  journalctl: {
    notLong: [
      '--vacuum-size',
      '--vacuum-time',
      '--vacuum-files',
      '--rotate',
      '--flush',
      '--sync',
      '--relinquish-var',
      '--setup-keys',
      '--update-catalog',
      '--cursor-file',
    ],
  },
  ip: {
    when: (args) =>
      /^(?:-(?:br|brief|c|color|4|6|j|json|s|o|d|h) )*(?:a|addr|address|l|link|r|route|neigh|rule|maddr)(?: (?:show|list|ls|get)\b.*)?$/.test(
        args.map(({ text }) => text).join(' '),
      ),
  },
  // `-i`: what is assigned is calculated; `-A`: its subscripts are any text.
  declare: { not: 'niA' },
  typeset: { not: 'niA' },
  local: { not: 'niA' },
  base64: { not: 'o', notLong: ['--output'] },
  ifconfig: { operands: 1 },
  mount: { when: (args) => args.length === 0 },
  tar: {
    when: (args) =>
      /^-?[a-zA-Z]*t[a-zA-Z]*$|^--list$/.test(args[0]?.text ?? '') &&
      !/x|c|r|u|A|I|F/.test((args[0]?.text ?? '').replace('--list', '')) &&
      !args
        .slice(1)
        .some(
          ({ text, dynamic, glob }) =>
            dynamic || glob || (/^-/.test(text) && !/^(?:-[fvzjJ]+|--verbose|--list|--file=[^:]*)$/.test(text)) || /:/.test(text),
        ),
  },
  unzip: { when: (args) => /^-(?:l|t|v|Z\d?|lv|vl|p)$/.test(args[0]?.text ?? '') && args.every(isStatic) },
  zipinfo: none,
  openssl: {
    when: (args) =>
      /^(?:version|dgst|ciphers|list)$/.test(args[0]?.text ?? '') &&
      args.every(
        ({ text }) =>
          !text.startsWith('-') || /^-(?:r|hex|c|v|a|s|md5|sha\d+(?:-\d+)?|blake2\w+|cipher-algorithms|digest-algorithms)$/.test(text),
      ) &&
      args.every(isStatic),
  },
  sed: { when: sedReads },
  awk: { when: awkReads },
  gawk: { when: awkReads },
  mawk: { when: awkReads },
  nawk: { when: awkReads },
  git: { when: gitReads },
  npm: sub('ls|list|ll|la|root|prefix|bin|explain|why|query|help|help-search|fund', { config: 'get|list|ls', pkg: 'get' }),
  pnpm: sub('ls|list|ll|la|why|root|bin', { config: 'get|list' }),
  pip: sub('list|show|freeze|check|inspect|debug', { config: 'get|list', cache: 'dir|info|list' }),
  pip3: sub('list|show|freeze|check|inspect|debug', { config: 'get|list', cache: 'dir|info|list' }),
  poetry: sub('show|check', { env: 'info|list', config: '--list' }),
  gem: sub('list|environment|env|contents|which|specification'),
  rustup: sub('show|which', { toolchain: 'list', target: 'list', component: 'list' }),
  go: {
    when: (args, place) =>
      (sub('version|list|doc|help', {}, /^-/).when?.(args, place) === true &&
        args.every(({ text }) => !text.startsWith('-') || /^-(?:m|f|json|all|src|short)$/.test(text))) ||
      (args[0]?.text === 'env' && args.every(isStatic) && !hasOption(args.slice(1), 'wu')),
  },
  docker: sub('ps|images|version|info|inspect|logs|port|top|history|diff', {
    container: 'ls|list|inspect|logs|ps',
    image: 'ls|list|inspect|history',
    volume: 'ls|inspect',
    network: 'ls|inspect',
    compose: 'ps|ls|images|version',
    system: 'df|info',
    context: 'ls|show',
  }),
  podman: sub('ps|images|version|info|inspect|logs|port|top|history|diff', {
    container: 'ls|list|inspect',
    image: 'ls|list|inspect',
    volume: 'ls',
    network: 'ls',
  }),
  systemctl: sub(
    'status|list-units|list-unit-files|is-active|is-enabled|is-failed|show|cat|list-timers|list-sockets|list-dependencies|get-default',
  ),
  service: { when: (args) => args.length === 2 && args[1]?.text === 'status' },
  brew: sub('list|info|leaves|deps|config|--prefix|--cellar|--repository|outdated'),
  apt: sub('list|show|policy|search|depends|rdepends'),
  'apt-cache': sub('show|policy|search|depends|rdepends|showpkg|madison|stats'),
  dpkg: {
    when: (args) =>
      /^(?:-[lLsSpV]|--list|--listfiles|--status|--search|--print-avail|--print-architecture|--get-selections)$/.test(
        args[0]?.text ?? '',
      ) && args.every((arg, at) => isStatic(arg) && (at === 0 || !arg.text.startsWith('-'))),
  },
  rpm: {
    when: (args) =>
      /^-q[a-zA-Z]*$/.test(args[0]?.text ?? '') &&
      args.every(isStatic) &&
      args
        .slice(1)
        .every(({ text }) => !text.startsWith('-') || /^--(?:last|changelog|scripts|requires|provides|whatprovides)$/.test(text)),
  },
  tsc: {
    when: (args) =>
      args.some(({ text }) => /^--(?:showConfig|listFilesOnly|help|all)$/.test(text)) &&
      args.every(isStatic) &&
      args.every(({ text }) => !text.startsWith('-') || /^(?:--(?:showConfig|listFilesOnly|help|all|project|noEmit)|-p)$/.test(text)),
  },
  node: { when: (args) => args.length === 2 && /^-(?:c|-check)$/.test(args[0]?.text ?? '') && isStatic(args[1] as Arg) },
  bash: { when: (args) => args.length === 2 && args[0]?.text === '-n' && isStatic(args[1] as Arg) },
  sh: { when: (args) => args.length === 2 && args[0]?.text === '-n' && isStatic(args[1] as Arg) },
  tmux: sub('ls|list-sessions|list-windows|list-panes|has-session'),
  nvm: sub('ls|list|current|which|version'),
  pyenv: sub('versions|version|which|root|commands|prefix'),
  rbenv: sub('versions|version|which|root'),
  asdf: sub('current|list|which|info'),
  gh: { when: (args) => args.every(isStatic) && /^(?:auth status)$/.test(args.map(({ text }) => text).join(' ')) },
  kubectl: {
    when: (args) =>
      args.every(isStatic) &&
      /^(?:config (?:get-contexts|current-context)|version --client(?:=true)?)$/.test(args.map(({ text }) => text).join(' ')),
  },
}

const VERSIONS = new Set([...VERSIONED.split(/\s+/), ...Object.keys(RULES)])

/** Whether the program only reads with these arguments; the reason why not. */
export function onlyReads(name: string, args: readonly Arg[], place: Place): string | true {
  if (isVersion(name, args)) return true
  const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined
  if (rule === undefined) return 'it is none of the programs that only read'
  if (evaluates(name, args)) return 'it evaluates text as code'
  if (rule.not !== undefined && hasOption(args, rule.not, [], rule.values)) return 'with this option it does more than read'
  if (rule.notLong && args.some(({ text }) => text.startsWith('--') && rule.notLong?.some((one) => meansLong(text, one))))
    return 'with this option it does more than read'
  if ((rule.not !== undefined || rule.notLong) && maybeOptions(args)) return 'what is only known later may be an option'
  if (
    rule.operands !== undefined &&
    operandsOf(
      args,
      [...(rule.values ?? '')].map((letter) => `-${letter}`),
    ).length > rule.operands
  )
    return 'with this argument it does more than read'
  if (rule.when && !rule.when(args, place)) return 'with these arguments it does more than read'
  return readsWidely(name, args, place) ?? true
}

/** They have a subcommand for it. */
const SAY_VERSION = new Set('go docker podman helm terraform deno kubectl git openssl gh'.split(' '))
/** `-v` is their version, not "verbose". */
const SHORT_VERSION = new Set('node npm pnpm perl php ruby tsc bun'.split(' '))

function isVersion(name: string, args: readonly Arg[]): boolean {
  const [only, ...more] = args
  if (only === undefined || more.length > 0 || !VERSIONS.has(name)) return false
  if (only.text === '-v') return SHORT_VERSION.has(name)
  if (only.text === '-version') return name === 'java'
  return only.text === 'version' ? SAY_VERSION.has(name) : /^(?:--version|-V|--help)$/.test(only.text)
}

const maybePredicate = (args: readonly Arg[]): boolean => args.some((arg) => (arg.dynamic || arg.glob) && maybeOptions([arg]))

function intoWorkspace(args: readonly Arg[], place: Place): boolean {
  const [to, ...more] = operandsOf(args)
  if (more.length > 0 || to === undefined || to.text === '-' || to.dynamic) return false
  const path = absolute(to.text, place)
  return path !== undefined && isInside(path, place.workspace)
}

/** Whose options are many: with these only. */
function few(options: RegExp): Rule {
  return { when: (args) => !maybeOptions(args) && args.every(({ text }) => !text.startsWith('-') || options.test(text)) }
}

/** Options of subcommands that change how much is told, and how. Any other, or any before the subcommand, may do more. */
const TELLING =
  /^(?:-[aglqsvn1]|-\d+|--(?:all|json|long|quiet|verbose|depth|global|local|user|parseable|production|omit|dev|prod|recursive|workspaces|include-workspace-root|outdated|uptodate|not-required|format|filter|no-trunc|size|tail|since|until|timestamps|details|no-stream|installed|upgradable|manual-installed|all-versions|names-only|versions|type|state|failed|no-pager|no-legend|full|lines|property|value|plain|formula|cask|tree|only|without|with|latest|top-level|no-dev|files|prefix|cellar|list)(?:=[^/]*)?)$/

/** Programs of subcommands. */
function sub(names: string, deeper: Readonly<Record<string, string>> = {}, options?: RegExp): Rule {
  const first = new Set(names.split('|'))
  return {
    when: (args) => {
      const words = args.map(({ text }) => text)
      if (
        !args.slice(0, 2).every(isStatic) ||
        (!first.has(words[0] ?? '') && !Object.hasOwn(deeper, words[0] ?? '')) ||
        words.slice(1).some((word) => word.startsWith('-') && word !== '--' && !(options ?? TELLING).test(word))
      )
        return false
      if (maybeOptions(args)) return false
      const [command = '', second = ''] = words
      return first.has(command) || (Object.hasOwn(deeper, command) && new Set(deeper[command]?.split('|')).has(second))
    },
  }
}
