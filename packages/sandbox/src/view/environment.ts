/** The environment of every command: an allowlist of names. Nothing of the host's comes along by a pattern. */
import { delimiter } from 'node:path'
import { isWithin } from '../paths.ts'
import type { User } from '../user.ts'
import * as files from './files.ts'
import type { GitPrograms } from './git.ts'
import { entriesOf } from './programs.ts'
import { TOOLCHAINS } from './toolchain-table.ts'
import type { Network, View } from './view.ts'
import { hostPath } from './view.ts'

type HostEnv = Readonly<Record<string, string | undefined>>

const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** How things look and sort, nothing more. */
const LOCALE = 'LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME LC_MONETARY TZ'.split(' ')

/** Roots of toolchains: let through where what they name can be seen inside. */
const ROOTS = [
  ...TOOLCHAINS.flatMap(({ env }) => env ?? []),
  ...'ASDF_DIR NVM_BIN JAVA_HOME CONDA_PREFIX VIRTUAL_ENV ANDROID_SDK_ROOT GOPATH MAVEN_HOME GRADLE_HOME KOTLIN_HOME SSL_CERT_FILE SSL_CERT_DIR'.split(
    ' ',
  ),
  ...'NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT'.split(' '),
]

const CHOICES = 'PYENV_VERSION RBENV_VERSION NODENV_VERSION RUSTUP_TOOLCHAIN GOFLAGS GOTOOLCHAIN GOPROXY CONDA_DEFAULT_ENV'.split(' ')
/** A proxy's address, unless a password is in it. */
const PROXIES = 'http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY'.split(' ')

/** Nobody is there to answer, to scroll or to look at colours. */
const UNATTENDED = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: '',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  PYTHONUNBUFFERED: '1',
  COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
  npm_config_update_notifier: 'false',
  npm_config_fund: 'false',
} as const

/** Says at once that there is no network, where a package manager would try for a minute. */
const OFFLINE = {
  npm_config_fetch_retries: '0',
  npm_config_audit: 'false',
  PIP_RETRIES: '0',
  CARGO_NET_OFFLINE: 'true',
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  UV_OFFLINE: '1',
  COREPACK_ENABLE_NETWORK: '0',
} as const

/**
 * Of every repository, not only the workspace's, whose settings are shown without programs: what one setting turns off. Drivers, filters and
 * aliases have names that only the repository knows.
 */
const GIT_SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['gpg.program', 'gpg'],
  ['gpg.ssh.program', 'ssh-keygen'],
  ['gpg.x509.program', 'gpgsm'],
  ['credential.helper', ''],
  ['protocol.ext.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
]

const gitEnvironment = (): Readonly<Record<string, string>> => ({
  GIT_CONFIG_COUNT: String(GIT_SETTINGS.length),
  ...Object.fromEntries(
    GIT_SETTINGS.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ),
  // These override what settings name.
  GIT_ASKPASS: '',
  GIT_SSH_COMMAND: 'ssh',
})

export interface EnvironmentOptions {
  readonly host: HostEnv
  /** Of further variables that are let through. */
  readonly names: readonly string[]
  readonly home: string
  readonly user: Pick<User, 'uid'>
  readonly network: Network
  readonly path: string
  readonly gitPrograms: GitPrograms
}

export async function environment(
  view: Pick<View, 'mounts' | 'links'>,
  options: EnvironmentOptions,
): Promise<Readonly<Record<string, string>>> {
  const { host, home, user, network } = options
  const name = user.uid === 0 ? 'root' : 'user'
  const roots = await pick(host, ROOTS, (value) => isSeen(value, view))
  const further = await pick(host, options.names, async () => true)
  const proxies = network === 'bridge' ? await pick(host, PROXIES, async (value) => !value.includes('@')) : {}
  return {
    ...(await pick(host, [...LOCALE, ...CHOICES], async () => true)),
    ...roots,
    ...proxies,
    ...UNATTENDED,
    ...(options.gitPrograms === 'ignore' && gitEnvironment()),
    ...(network === 'none' && OFFLINE),
    PATH: options.path,
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: '/bin/bash',
    TMPDIR: '/tmp',
    ...further,
  }
}

/** Entries that can be seen inside, by the name they have there, and the system's own after them. */
export async function searchPath(
  path: string,
  instead: ReadonlyMap<string, string>,
  view: Pick<View, 'mounts' | 'links'>,
): Promise<string> {
  const found = await Promise.all(
    entriesOf(path).map(async (entry) => {
      if (await isSeen(entry, view)) return entry
      const real = instead.get(entry) ?? (await files.real(entry))
      const mount = real && view.mounts.findLast(({ source }) => isWithin(source, real))
      return mount && real ? mount.target + real.slice(mount.source.length) : undefined
    }),
  )
  return [...new Set([...found.filter((entry) => entry !== undefined), ...SYSTEM_PATH])].join(delimiter)
}

async function isSeen(path: string, view: Pick<View, 'mounts' | 'links'>): Promise<boolean> {
  const link = view.links.find((one) => isWithin(one.path, path))
  const named = link ? link.to + path.slice(link.path.length) : path
  const onHost = hostPath(named, view)
  if (onHost === undefined) return false
  const real = await files.real(onHost)
  // A link in the home leads to where it leads inside as well, which may be nowhere.
  return real !== undefined && view.mounts.some(({ source }) => isWithin(source, real))
}

async function pick(
  host: HostEnv,
  names: readonly string[],
  may: (value: string) => Promise<boolean>,
): Promise<Readonly<Record<string, string>>> {
  const found = await Promise.all(
    [...new Set(names)].map(async (name) => {
      const value = host[name]
      return value !== undefined && value !== '' && !value.includes('\0') && (await may(value)) ? [[name, value] as const] : []
    }),
  )
  return Object.fromEntries(found.flat())
}
