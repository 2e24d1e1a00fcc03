/**
 * Where toolchains live in a home folder. Of those that keep credentials beside their programs only the parts that hold none are
 * named: `~/.cargo/credentials.toml`, `~/.gem/credentials`, `~/.m2/settings.xml` never come along.
 */
export interface Toolchain {
  /** Relative to the home. */
  readonly path: string
  /** The variable that says where else it is. */
  readonly env?: string
  /** What of it is shown; all of it where none are named. */
  readonly parts?: readonly string[]
}

const whole = (path: string, env?: string): Toolchain => ({ path, ...(env && { env }) })
const parts = (path: string, names: readonly string[], env?: string): Toolchain => ({ path, parts: names, ...(env && { env }) })

export const TOOLCHAINS: readonly Toolchain[] = [
  // JavaScript
  whole('.nvm', 'NVM_DIR'),
  whole('.fnm', 'FNM_DIR'),
  whole('.local/share/fnm'),
  whole('.volta', 'VOLTA_HOME'),
  whole('.nodenv', 'NODENV_ROOT'),
  whole('n', 'N_PREFIX'),
  whole('.n'),
  whole('.npm-global'),
  whole('.local/share/pnpm', 'PNPM_HOME'),
  whole('.yarn/bin'),
  whole('.config/yarn/global'),
  whole('.cache/node/corepack', 'COREPACK_HOME'),
  parts('.bun', ['bin', 'install'], 'BUN_INSTALL'),
  parts('.deno', ['bin'], 'DENO_INSTALL'),
  whole('.cache/deno', 'DENO_DIR'),
  whole('.cache/ms-playwright', 'PLAYWRIGHT_BROWSERS_PATH'),
  whole('.cache/puppeteer'),
  whole('.cache/Cypress'),
  // Of many languages
  whole('.asdf', 'ASDF_DATA_DIR'),
  whole('.tool-versions'),
  whole('.local/share/mise', 'MISE_DATA_DIR'),
  whole('.proto', 'PROTO_HOME'),
  whole('.pixi', 'PIXI_HOME'),
  whole('.nix-profile'),
  whole('.linuxbrew'),
  whole('.local/bin'),
  whole('.local/lib'),
  // Python
  whole('.pyenv', 'PYENV_ROOT'),
  parts('.local/share/uv', ['python', 'tools']),
  whole('.local/share/pipx', 'PIPX_HOME'),
  whole('.local/pipx'),
  whole('.local/share/pypoetry'),
  whole('.cache/pypoetry/virtualenvs'),
  whole('.local/share/virtualenvs'),
  whole('.virtualenvs', 'WORKON_HOME'),
  whole('.local/share/hatch'),
  parts('.rye', ['shims', 'py', 'tools', 'self', 'uv'], 'RYE_HOME'),
  ...['miniconda3', 'anaconda3', 'miniforge3', 'mambaforge', 'micromamba', '.micromamba'].map((path) => whole(path)),
  parts('.conda', ['envs', 'pkgs']),
  // Ruby, PHP, Perl, Lua
  whole('.rbenv', 'RBENV_ROOT'),
  whole('.rvm', 'rvm_path'),
  whole('.rubies'),
  parts('.gem', ['ruby']),
  whole('.phpenv', 'PHPENV_ROOT'),
  parts('.composer', ['vendor']),
  parts('.config/composer', ['vendor']),
  whole('.plenv', 'PLENV_ROOT'),
  whole('perl5'),
  whole('.luarocks'),
  // Rust, Go, Zig, Swift, Haskell, OCaml, Julia, Nim, Lean
  whole('.rustup', 'RUSTUP_HOME'),
  parts('.cargo', ['bin', 'env', 'registry', 'git'], 'CARGO_HOME'),
  whole('go/bin'),
  whole('go/pkg', 'GOMODCACHE'),
  whole('.go', 'GOROOT'),
  whole('sdk'),
  whole('.goenv', 'GOENV_ROOT'),
  whole('.zvm'),
  whole('.local/share/swiftly', 'SWIFTLY_HOME_DIR'),
  parts('.ghcup', ['bin', 'ghc', 'env', 'share']),
  parts('.cabal', ['bin', 'packages', 'store']),
  parts('.stack', ['programs', 'snapshots', 'pantry']),
  whole('.opam', 'OPAMROOT'),
  whole('.juliaup'),
  parts('.julia', ['juliaup', 'packages', 'artifacts', 'compiled', 'registries', 'environments']),
  whole('.elan', 'ELAN_HOME'),
  whole('.nimble/bin'),
  whole('.choosenim/toolchains'),
  // JVM, .NET, Dart, Elixir, Android, Ethereum
  whole('.sdkman', 'SDKMAN_DIR'),
  whole('.jenv'),
  whole('.jabba'),
  whole('.jdks'),
  parts('.m2', ['repository', 'wrapper']),
  parts('.ivy2', ['cache', 'local']),
  whole('.cache/coursier'),
  whole('.local/share/coursier'),
  whole('.dotnet', 'DOTNET_ROOT'),
  parts('.nuget', ['packages']),
  parts('.pub-cache', ['bin', 'hosted', 'global_packages', 'git']),
  whole('flutter', 'FLUTTER_ROOT'),
  whole('.mix/archives'),
  whole('.kiex'),
  whole('Android/Sdk', 'ANDROID_HOME'),
  whole('.foundry/bin'),
  whole('.wasmtime'),
]

/** Names of what holds credentials, wherever it lies. */
export const SECRET_NAME =
  /^(\.?credentials?(\..*)?|\.npmrc|npmrc|\.netrc|_netrc|\.pypirc|\.condarc|condarc|\.yarnrc(\.yml)?|auth\.(json|toml)|\.git-credentials|\.env(\..*)?|\.ssh|\.gnupg|\.aws|\.azure|\.docker|\.kube|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|keystore|jks))$/i
