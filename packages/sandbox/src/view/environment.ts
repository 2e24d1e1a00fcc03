/** Builds the environment of every command from an allowlist of names. No host variable is passed on by a pattern. */
import { delimiter } from 'node:path'
import { isWithin, words } from '../paths.ts'
import type { User } from '../user.ts'
import * as files from './files.ts'
import type { GitPrograms } from './protect.ts'
import { entriesOf, TOOLCHAIN_VARIABLES } from './toolchains.ts'
import { hostPath, type Network, type View } from './view.ts'

type Variables = Readonly<Record<string, string>>
type HostEnv = Readonly<Record<string, string | undefined>>
type Seen = Pick<View, 'mounts' | 'links'>

const SYSTEM_PATH = words('/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin')

/** Variables for display, sorting and version selection. */
const PLAIN = words(`
  LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME LC_MONETARY TZ
  PYENV_VERSION RBENV_VERSION NODENV_VERSION RUSTUP_TOOLCHAIN GOFLAGS GOTOOLCHAIN GOPROXY CONDA_DEFAULT_ENV`)

/** Variables for toolchain roots, passed on if the folder they name is visible inside. */
const ROOTS = [
  ...TOOLCHAIN_VARIABLES,
  ...words(`
    ASDF_DIR NVM_BIN JAVA_HOME CONDA_PREFIX VIRTUAL_ENV ANDROID_SDK_ROOT GOPATH MAVEN_HOME GRADLE_HOME KOTLIN_HOME
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO PIP_CERT`),
]

/** Proxy addresses, passed on unless they contain a password. */
const PROXIES = words('http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY')

const variables = (text: string): Variables => Object.fromEntries(words(text).map((one) => one.split('=')))

/** Nobody is present to answer prompts, scroll output or see colors. */
const UNATTENDED = variables(`
  TERM=dumb NO_COLOR=1 PAGER=cat GIT_PAGER=cat MANPAGER=cat SYSTEMD_PAGER= EDITOR=true VISUAL=true GIT_EDITOR=true GIT_TERMINAL_PROMPT=0
  DEBIAN_FRONTEND=noninteractive PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1 COREPACK_ENABLE_DOWNLOAD_PROMPT=0
  npm_config_update_notifier=false npm_config_fund=false`)

/** Makes package managers report right away that there is no network, instead of retrying for a minute. */
const OFFLINE = variables(`
  npm_config_fetch_retries=0 npm_config_audit=false PIP_RETRIES=0 CARGO_NET_OFFLINE=true GOPROXY=off GOTOOLCHAIN=local UV_OFFLINE=1
  COREPACK_ENABLE_NETWORK=0`)

/**
 * Settings for every repository, not only the workspace's (whose settings are already shown without programs). They cover what a
 * single setting can turn off; drivers, filters and aliases have names that only the repository knows.
 */
const GIT_SETTINGS = variables(`
  core.fsmonitor=false core.hooksPath=/dev/null core.pager=cat gpg.program=gpg gpg.ssh.program=ssh-keygen gpg.x509.program=gpgsm
  credential.helper= protocol.ext.allow=never safe.bareRepository=explicit`)

const gitEnvironment = (): Variables => {
  const settings = Object.entries(GIT_SETTINGS)
  const named = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  // The last two variables override settings.
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(named), GIT_ASKPASS: '', GIT_SSH_COMMAND: 'ssh' }
}

export interface EnvironmentOptions {
  readonly hostEnv: HostEnv
  /** Names of additional variables to pass on. */
  readonly env: readonly string[]
  readonly user: User
  readonly network: Network
  /** Default `ignore`. */
  readonly gitPrograms?: GitPrograms | undefined
}

/** @param path the search path */
export async function environment(view: Seen, home: string, path: string, options: EnvironmentOptions): Promise<Variables> {
  const { hostEnv: host, user, network, gitPrograms = 'ignore' } = options
  const name = user.uid === 0 ? 'root' : 'user'
  return {
    ...(await pick(host, PLAIN)),
    ...(await pick(host, ROOTS, (value) => isSeen(value, view))),
    ...(network === 'bridge' && (await pick(host, PROXIES, async (value) => !value.includes('@')))),
    ...UNATTENDED,
    ...(gitPrograms === 'ignore' && gitEnvironment()),
    ...(network === 'none' && OFFLINE),
    ...{ PATH: path, HOME: home, USER: name, LOGNAME: name, SHELL: '/bin/bash', TMPDIR: '/tmp' },
    ...(await pick(host, options.env)),
  }
}

/** Keeps the entries that are visible inside, translated to their paths there, and appends the system's own. */
export async function searchPath(path: string, instead: ReadonlyMap<string, string>, view: Seen): Promise<string> {
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

async function isSeen(path: string, view: Seen): Promise<boolean> {
  const link = view.links.find((one) => isWithin(one.path, path))
  const onHost = hostPath(link ? link.to + path.slice(link.path.length) : path, view)
  const real = onHost && (await files.real(onHost))
  // A link in the home folder has the same target inside, which may not exist there.
  return real !== undefined && view.mounts.some(({ source }) => isWithin(source, real))
}

async function pick(host: HostEnv, names: readonly string[], may = async (_value: string) => true): Promise<Variables> {
  const values = names.map((name) => [name, host[name] ?? ''] as const)
  return Object.fromEntries(await files.only(values, async ([, value]) => value !== '' && !value.includes('\0') && may(value)))
}
