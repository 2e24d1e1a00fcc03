/** Files that hold keys, and who reads them. */
import { globMatcher } from './glob.ts'
import { operandsOf } from './options.ts'
import { absolute } from './paths.ts'
import type { Place } from './types.ts'
import { type Arg, argOf, withNumbers } from './value.ts'

/** Names that say it wherever the file lies. */
const NAMES: readonly RegExp[] = [
  /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?(?:\.(?!pub$)\w+)?$/,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc\.key|ovpn)$/i,
  /^\.(?:netrc|npmrc|pypirc|pgpass|my\.cnf|git-credentials|dockercfg|htpasswd|vault-token|s3cfg|boto|yarnrc\.yml|envrc|flyrc)$/,
  /^\.env(?:\.(?!example$|sample$|template$|dist$|defaults?$|schema$).+)?$/,
  /^(?:_netrc|secring\.gpg|wallet\.dat|logins\.json|key[34]\.db|Login Data|credentials\.tfrc\.json|credentials\.json|service-account.*\.json|secrets?\.(?:ya?ml|json|toml|env)|kubeconfig|ssh_host_\w+_key)$/,
  /^\.(?:bash|zsh|sh|psql|mysql|python|node_repl|sqlite|rediscli)_history$/,
]
/** Where the whole path says it; `~` is a home. */
const PLACES: readonly RegExp[] = [
  /^\/etc\/(?:g?shadow-?|sudoers|security\/opasswd|krb5\.keytab)$/,
  /^\/etc\/sudoers\.d\//,
  /^\/proc\/(?:\d+|self|thread-self|\*|[^/]*[*?[][^/]*)\/(?:environ|mem)$/,
  /^\/(?:proc\/kcore|dev\/k?mem)$/,
  /^\/dev\/(?:r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|mapper\/|dm-\d)/,
  /^\/(?:var\/)?run\/secrets\/./,
  /^~\/\.ssh\/(?!known_hosts(?:\.old)?$|config$|authorized_keys$|[^/]*\.pub$)[^/]+$/,
  /^~\/\.(?:aws|azure|gnupg|password-store|kube|oci|chef|databrickscfg)\/./,
  /^~\/\.config\/(?:gcloud|gh|hub|rclone|op|doctl|heroku|sops|git\/credentials|containers\/auth\.json)(?:\/|$)/,
  /^~\/\.docker\/config\.json$/,
  /^~\/\.(?:cargo|gem)\/credentials/,
  /^~\/\.local\/share\/(?:keyrings|kwalletd)(?:\/|$)/,
  /^~\/Library\/Keychains(?:\/|$)/,
  /^~\/\.(?:mozilla|config\/(?:google-chrome|chromium))\/.*(?:Cookies|Login Data|cookies\.sqlite)/,
  /^~\/\.(?:mulligan|config\/mulligan)\/.*(?:key|token|credential|secret)/i,
]
/** Read as a whole they give what they hold. */
const FOLDERS =
  /^~\/\.(?:ssh|aws|gnupg|password-store|azure|kube|docker)$|^~\/\.config\/(?:gcloud|gh)$|^\/(?:var\/)?run\/secrets$|^~\/Library\/Keychains$/

/** What a pattern is tried on. */
const SAMPLES = [
  '~/.ssh/id_rsa',
  '~/.ssh/id_ed25519',
  '~/.ssh',
  '~/.aws/credentials',
  '~/.aws',
  '~/.gnupg/secring.gpg',
  '~/.netrc',
  '~/.npmrc',
  '~/.git-credentials',
  '~/.kube/config',
  '~/.docker/config.json',
  '~/.pgpass',
  '/etc/shadow',
  '/etc/gshadow',
  '/proc/1/environ',
  '/proc/self/environ',
  '~/.config/gh/hosts.yml',
  '~/.bash_history',
]
const NAME_SAMPLES = [
  '.env',
  '.env.local',
  '.env.production',
  '.netrc',
  '.npmrc',
  'id_rsa',
  'id_ed25519',
  'id_ecdsa',
  'server.pem',
  'server.key',
  '.git-credentials',
]

export function isSecret(text: string, place: Place, glob = false): boolean {
  const path = absolute(text, place) ?? text
  const name = path.slice(path.lastIndexOf('/') + 1)
  const inHome = tildes(path, place)
  if (glob && /[*?[]/.test(text)) return matchesSample(path, name, place) || inHome.some(isPlace)
  return NAMES.some((one) => one.test(name)) || inHome.some(isPlace)
}

const isPlace = (path: string): boolean => PLACES.some((one) => one.test(path)) || FOLDERS.test(path)

const tildes = (path: string, { home }: Place): string[] => {
  const found = [home, '/root'].find((one) => path.startsWith(`${one}/`)) ?? /^\/(?:home|Users)\/[^/]+(?=\/)/.exec(path)?.[0]
  return found === undefined ? [path] : [path, `~${path.slice(found.length)}`]
}

function matchesSample(path: string, name: string, { home }: Place): boolean {
  // `*` alone takes no names with a dot, and says nothing of keys.
  const takes = globMatcher(name)
  const own = /[a-z.]/i.test(name.replace(/\[[^\]]*\]/g, ''))
  if (
    own &&
    NAME_SAMPLES.some((one) => (one.startsWith('.') ? /^[.[]/.test(name) : /^(?:\*\.(?:pem|key|k\S*|p\S*m)|id_)/.test(name)) && takes(one))
  )
    return true
  const whole = globMatcher(path, false)
  return SAMPLES.some((one) => {
    const sample = one.replace('~', home)
    return whole(sample) || (one.startsWith('~') && (whole(one.replace('~', '/root')) || whole(one.replace('~', '/home/user'))))
  })
}

/** They name files without reading them. */
const NAMERS = new Set(
  'ls stat test [ [[ echo printf rm unlink rmdir touch chmod chown chgrp mkdir find fd which basename dirname realpath readlink ssh-keygen ssh-add ssh cd pushd type exa eza alias export declare local readonly typeset set unset true false : shred truncate exit return read'.split(
    ' ',
  ),
)
/** Their first operand is a pattern, not a file. */
const PATTERN_FIRST = new Set(['grep', 'egrep', 'fgrep', 'zgrep', 'rg', 'ag', 'ack', 'sed', 'awk', 'gawk', 'mawk', 'nawk', 'jq', 'yq'])
/** Subcommands of git that show what a file holds. */
const GIT_READERS = new Set(['show', 'diff', 'blame', 'annotate', 'cat-file', 'grep', 'archive', 'stash', 'difftool', 'log', 'hash-object'])
/** Their last operand is what is written. */
const TO_LAST = new Set(['cp', 'mv', 'install', 'scp', 'rsync', 'ln'])

/** The key file that a command would read; undefined where there is none. */
export function secretRead(name: string, args: readonly Arg[], place: Place): string | undefined {
  if (NAMERS.has(name)) return undefined
  return readable(name, args).find((arg) => namesSecret(arg, place))?.text
}

function readable(name: string, args: readonly Arg[]): readonly Arg[] {
  if (name === 'git') {
    const [sub] = operandsOf(args, ['-C', '-c', '--git-dir', '--work-tree'])
    return sub && GIT_READERS.has(sub.text) ? args.filter((arg) => arg !== sub) : []
  }
  if (PATTERN_FIRST.has(name)) {
    const given = args.some(({ text }) => /^(?:-[a-zA-Z]*[ef]|--regexp|--expression|--file|--from-file)$/.test(text))
    const pattern = given
      ? undefined
      : operandsOf(args, [
          '-A',
          '-B',
          '-C',
          '-m',
          '-g',
          '-t',
          '-T',
          '--glob',
          '--type',
          '-F',
          '-v',
          '--arg',
          '--argjson',
          '-d',
          '-i.bak',
        ])[0]
    return args.filter(
      (arg, at) =>
        arg !== pattern &&
        !/^(?:-[a-zA-Z]*e|--regexp|--expression|-g|--glob|--iglob)$/.test(args[at - 1]?.text ?? '') &&
        !/^--(?:in|ex)clude|^--glob|^--regexp/.test(arg.text),
    )
  }
  if (TO_LAST.has(name) && operandsOf(args).length > 1) {
    const last = operandsOf(args).at(-1)
    return args.filter((arg) => arg !== last)
  }
  return args.filter(
    ({ text }, at) => !/^--(?:env-file|exclude|dotenv)/.test(text) && !/^--(?:env-file|exclude|dotenv\S*)$/.test(args[at - 1]?.text ?? ''),
  )
}

/** The argument as a whole, or what follows `=`, `@`, `:` or `<` in it: `of=…`, `@file`, `HEAD:file`. */
function namesSecret(arg: Arg, place: Place): boolean {
  const whole = known(arg)
  if (whole === undefined) return false
  const { text, glob } = whole
  if (/^(?!file:)[a-z][\w+.-]*:\/\//i.test(text)) return false
  const candidates =
    text.length > 4000 ? [] : [text, ...text.split(/[=@,:<]/).slice(1), ...(/^-[a-zA-Z][/~.]/.test(text) ? [text.slice(2)] : [])]
  return candidates.some(
    (one) => one !== '' && !/\s/.test(one.trim()) && isSecret(expandTilde(one.replace(/^file:\/\//, ''), place), place, glob),
  )
}

/** A program may take `~` by itself where the shell did not. */
const expandTilde = (text: string, { home }: Place): string => (text.startsWith('~/') ? home + text.slice(1) : text)

/** What is not known may be anything: `~/.ssh/$name`, `$dir/.env`. */
function known(arg: Arg): Arg | undefined {
  const numbered = withNumbers(arg)
  if (!numbered.dynamic) return numbered
  const first = numbered.pieces[0]
  const pieces = numbered.pieces.map((one) => (one.kind === 'unknown' ? ({ kind: 'glob', text: '*' } as const) : one))
  if (first?.kind !== 'unknown') return argOf(pieces)
  const rest = argOf(pieces.slice(1))
  return rest.text.startsWith('/') ? argOf([{ kind: 'text', text: '/unknown' }, ...rest.pieces]) : undefined
}
