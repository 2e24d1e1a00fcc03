/** Finds toolchains outside the system folders (in the home folder and in PATH) and caches that commands may write to. */
import { readdirSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path'
import { attempt, isWithin, words } from '../paths.ts'
import type { User } from '../user.ts'
import * as files from './files.ts'
import type { Mount } from './view.ts'

/** Paths in the home folder that are shown whole. After `=` comes the variable that names their alternative location. */
const WHOLE = words(`
  .nvm=NVM_DIR .fnm=FNM_DIR .local/share/fnm .volta=VOLTA_HOME .nodenv=NODENV_ROOT n=N_PREFIX .n .npm-global .local/share/pnpm=PNPM_HOME
  .yarn/bin .config/yarn/global .cache/node/corepack=COREPACK_HOME .cache/deno=DENO_DIR
  .cache/ms-playwright=PLAYWRIGHT_BROWSERS_PATH .cache/puppeteer .cache/Cypress
  .asdf=ASDF_DATA_DIR .tool-versions .local/share/mise=MISE_DATA_DIR .proto=PROTO_HOME .pixi=PIXI_HOME .nix-profile .linuxbrew
  .local/bin .local/lib
  .pyenv=PYENV_ROOT .local/share/pipx=PIPX_HOME .local/pipx .local/share/pypoetry .cache/pypoetry/virtualenvs .local/share/virtualenvs
  .virtualenvs=WORKON_HOME .local/share/hatch miniconda3 anaconda3 miniforge3 mambaforge micromamba .micromamba
  .rbenv=RBENV_ROOT .rvm=rvm_path .rubies .phpenv=PHPENV_ROOT .plenv=PLENV_ROOT perl5 .luarocks
  .rustup=RUSTUP_HOME go/bin go/pkg=GOMODCACHE .go=GOROOT sdk .goenv=GOENV_ROOT .zvm .local/share/swiftly=SWIFTLY_HOME_DIR
  .opam=OPAMROOT .juliaup .elan=ELAN_HOME .nimble/bin .choosenim/toolchains
  .sdkman=SDKMAN_DIR .jenv .jabba .jdks .cache/coursier .local/share/coursier .dotnet=DOTNET_ROOT flutter=FLUTTER_ROOT .mix/archives .kiex
  Android/Sdk=ANDROID_HOME .foundry/bin .wasmtime`)

/**
 * Toolchains that store credentials next to their programs (`~/.cargo/credentials.toml`, `~/.m2/settings.xml`): only parts without
 * credentials are shown.
 */
const PARTS = words(`
  .bun/{bin,install}=BUN_INSTALL .deno/{bin}=DENO_INSTALL .local/share/uv/{python,tools} .rye/{shims,py,tools,self,uv}=RYE_HOME
  .conda/{envs,pkgs} .gem/{ruby} .composer/{vendor} .config/composer/{vendor} .cargo/{bin,env,registry,git}=CARGO_HOME
  .ghcup/{bin,ghc,env,share} .cabal/{bin,packages,store} .stack/{programs,snapshots,pantry} .m2/{repository,wrapper} .ivy2/{cache,local}
  .julia/{juliaup,packages,artifacts,compiled,registries,environments} .nuget/{packages} .pub-cache/{bin,hosted,global_packages,git}`)

const TOOLCHAINS = [...WHOLE, ...PARTS].map((named) => {
  const [, path = '', parts = '', variable] = /^([^{=]+?)(?:\/\{(.+)\})?(?:=(\w+))?$/.exec(named) ?? []
  return { path, variable, parts: parts.split(',') }
})

/** Variables that name a toolchain's folder. */
export const TOOLCHAIN_VARIABLES = TOOLCHAINS.flatMap(({ variable }) => variable ?? [])

/** Names of files and folders that hold credentials, wherever they are. */
const SECRET_NAME =
  /^(\.?credentials?(\..*)?|\.npmrc|npmrc|\.netrc|_netrc|\.pypirc|\.condarc|condarc|\.yarnrc(\.yml)?|auth\.(json|toml)|\.git-credentials|\.env(\..*)?|\.ssh|\.gnupg|\.aws|\.azure|\.docker|\.kube|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|keystore|jks))$/i

type HostEnv = Readonly<Record<string, string | undefined>>

/** Returns read-only mounts. @param empty mounted over credential folders inside them */
export async function toolchainMounts(home: string, env: HostEnv, empty: string): Promise<readonly Mount[]> {
  const paths = TOOLCHAINS.flatMap(({ path, variable, parts }) => {
    const named = variable && env[variable]
    const roots = [join(home, path), ...(named && isWithin(home, named) ? [named] : [])]
    return roots.filter((root) => root !== home).flatMap((root) => parts.map((part) => join(root, part)))
  })
  return (await Promise.all([...new Set(paths)].map((path) => readOnly(path, empty)))).flat()
}

/** Returns no mounts if the path does not exist or resolves to the whole disk, a device or a socket. */
async function readOnly(path: string, empty: string): Promise<readonly Mount[]> {
  const source = await files.real(path)
  const kind = source === undefined || source === '/' ? undefined : await files.target(source)
  const isShown = kind === 'directory' || (kind === 'file' && !SECRET_NAME.test(basename(source as string)))
  if (source === undefined || !isShown) return []
  return [{ source, target: path, mode: 'read-only' }, ...(kind === 'file' ? [] : await masks(source, path, empty))]
}

/** Mounts something empty over credentials and sockets at the top level of a toolchain. */
async function masks(source: string, target: string, empty: string): Promise<readonly Mount[]> {
  const inEtc = (await files.list(join(source, 'etc'))).map((one) => ({ ...one, name: `etc/${one.name}` }))
  return [...(await files.list(source)), ...inEtc]
    .filter(({ name, kind }) => kind !== 'link' && (kind === 'other' || SECRET_NAME.test(basename(name))))
    .map(({ name, kind }) => ({ source: kind === 'directory' ? empty : '/dev/null', target: join(target, name), mode: 'read-only' }))
}

/**
 * Caches below the home folder that are provided to commands in a layer, keyed by a workspace file that indicates their use.
 * Without them, every test run would recompile its dependencies. None contains credentials; those are stored beside `registry` and
 * `git`.
 */
const CACHES: Readonly<Record<string, readonly string[]>> = {
  'go.mod go.work': ['.cache/go-build', 'go/pkg/mod'],
  'Cargo.toml': ['.cargo/registry', '.cargo/git'],
}

/** Returns mounts that commands may write to. Use them only where overlays are mounted over their sources. */
export async function findCaches(
  { workspace, home, user }: { readonly workspace: string; readonly home: string; readonly user: User },
  empty: string,
): Promise<readonly Mount[]> {
  // The user that commands run as can't access root's home.
  if (process.getuid?.() === 0 && user.onHost === 'same') return []
  const names = namesIn(workspace)
  const wanted = Object.entries(CACHES).flatMap(([manifests, caches]) => (words(manifests).some((name) => names.has(name)) ? caches : []))
  const found = await Promise.all(wanted.map((path) => readOnly(join(home, path), empty)))
  return found.flatMap(([cache, ...masks]) =>
    cache && statSync(cache.source).isDirectory() && !isWithin(workspace, cache.source) && !isWithin(cache.source, workspace)
      ? [{ ...cache, mode: 'read-write' as const }, ...masks]
      : [],
  )
}

/** Lists names on two levels, because a project may be in a subfolder of the workspace. */
function namesIn(workspace: string): ReadonlySet<string> {
  const list = (folder: string) => readdirSync(folder, { withFileTypes: true })
  const folders = list(workspace).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
  const below = folders.flatMap(({ name }) => attempt(() => list(join(workspace, name))) ?? [])
  return new Set([...list(workspace), ...below].map(({ name }) => name))
}

const BIN = /^(bin|sbin|shims)$/
/** Names next to `bin` that indicate an installation. */
const BESIDE = /^(lib|lib64|libexec|share|include|pyvenv\.cfg|conda-meta|pkg|jre|jmods|release|versions|package\.json)$/
/** Shared folders, which are never a single installation. */
const SHARED = words('/ /opt /srv /mnt /media /home /root /tmp /var /var/lib /run /etc /Users /work /data')

export interface Places {
  readonly path: string
  readonly home: string
  readonly workspace: string
  /** Real paths that are already visible. */
  readonly visible: readonly string[]
  /** Mounted over credential folders. */
  readonly empty: string
  /** The Node.js executable running this process. */
  readonly execPath: string
}

export const entriesOf = (path: string): readonly string[] => path.split(delimiter).filter((entry) => isAbsolute(entry))

/**
 * Returns mounts for programs that PATH finds in unusual places and for a Python used by the workspace, and replacement folders for
 * PATH entries that can't be shown themselves.
 */
export async function programs(places: Places) {
  const mounts: Mount[] = []
  const instead = new Map<string, string>()
  const isVisible = (path: string) => [...places.visible, ...mounts.map(({ source }) => source)].some((folder) => isWithin(folder, path))
  const show = async (bin: string | undefined): Promise<boolean> => {
    if (bin === undefined || isVisible(bin)) return bin !== undefined
    const prefix = await prefixOf(bin, places)
    if (prefix !== undefined) mounts.push(...(await readOnly(prefix, places.empty)))
    return prefix !== undefined
  }
  for (const entry of entriesOf(places.path)) {
    const bin = await files.real(entry)
    if (bin === undefined || (await show(bin))) continue
    const node = await files.real(join(bin, 'node'))
    if (node !== undefined && (await show(dirname(node)))) instead.set(entry, dirname(node))
  }
  for (const name of ['.venv', 'venv', 'env']) await show(await basePython(join(places.workspace, name, 'pyvenv.cfg')))
  const own = await files.real(places.execPath)
  await show(own && dirname(own))
  return { mounts, instead }
}

/** Returns the installation folder of a real `bin` path. Undefined unless the folder clearly contains nothing else. */
async function prefixOf(bin: string, { home, workspace }: Places): Promise<string | undefined> {
  const prefix = dirname(bin)
  if (!BIN.test(basename(bin)) || SHARED.includes(prefix) || isWithin(prefix, home) || isWithin(prefix, workspace)) return undefined
  const beside = await files.list(prefix)
  const isUnsafe = [...beside, ...(await files.list(bin))].some(({ name, kind }) => kind === 'other' || SECRET_NAME.test(name))
  return isUnsafe || !beside.some(({ name }) => BESIDE.test(name)) ? undefined : prefix
}

/** Returns the Python that a virtual environment in the workspace was created with and links to. */
async function basePython(settings: string): Promise<string | undefined> {
  const [, home] = /^home\s*=\s*(\/.*?)\s*$/m.exec(await files.text(settings)) ?? []
  return home === undefined ? undefined : files.real(home)
}
