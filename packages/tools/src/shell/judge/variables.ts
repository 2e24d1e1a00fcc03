/** Variables that change what programs do. */

const NAMES = new Set(
  `PATH IFS ENV HOME SHELL PS0 PS1 PS2 PS3 PS4 PAGER EDITOR VISUAL BROWSER CDPATH GLOBIGNORE FIGNORE SHELLOPTS BASHOPTS TMPDIR FPATH ZDOTDIR CC CXX
  MAKEFLAGS GREP_OPTIONS RIPGREP_CONFIG_PATH LESS LESSOPEN LESSCLOSE LESSKEY LESSKEYIN MANPAGER MANOPT MANPATH AWKPATH AWKLIBPATH JQ_LIBRARY_PATH TAR_OPTIONS GREP CMP DIFF MAGIC POSIXLY_CORRECT GZIP ZIPOPT UNZIP
  RSYNC_RSH SSH_ASKPASS DOCKER_HOST KUBECONFIG TERMINFO TERMINFO_DIRS LOCPATH GCONV_PATH HOSTALIASES LOCALDOMAIN RUBYOPT RUBYLIB GEM_HOME GOFLAGS GOPATH GOROOT
  GOBIN GOENV GOPROXY GOTOOLCHAIN PHPRC CLASSPATH LUA_PATH LUA_CPATH LUA_INIT _JAVA_OPTIONS NODE_OPTIONS NODE_PATH INPUTRC TZDIR`.split(
    /\s+/,
  ),
)
/** Of a kind. */
const KINDS =
  /^(?:LD|DYLD|GIT|BASH|ZSH|NPM|npm_config|YARN|BUNDLE|JAVA|JDK|MAVEN|RUST|RUSTC|CARGO|PIP|UV|GLIBC|SYSTEMD|BAT|FZF|XDG|CORECLR|DOCKER|DOTNET|OPENSSL|SSL|MALLOC|SUDO)_\w+$|^(?:PYTHON|PERL5?)\w+$|_(?:COMMAND|PAGER|EDITOR)$/
/** Values that change nothing but how things look, or turn a program off. */
const HARMLESS: readonly RegExp[] = [
  /^(?:GIT_|MAN|BAT_)?PAGER=(?:cat)?$/,
  /^GIT_(?:TERMINAL_PROMPT|OPTIONAL_LOCKS)=\w*$/,
  /^PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8)=/,
  /^LESS=-?[A-Za-z]*$/,
  /^RUST_(?:BACKTRACE|LOG)=/,
  /^CARGO_TERM_COLOR=/,
  // What `read` splits at.
  /^IFS=[\s,:;|]*$/,
]

/** Set for one program, these change how it looks or in which language it speaks. */
const FOR_ONE = /^(?:NO_COLOR|FORCE_COLOR|CLICOLOR\w*|LC_[A-Z]+|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|CI|DEBUG|NODE_ENV)$/
const BUILTIN = /^(?:echo|printf|test|\[|true|false|:|read|cd|pwd|set|shift|export|local|declare|unset|eval)$/

/** Whether a program that is given it may do something else: each has names of its own. */
export const mayDirect = (name: string, value: string | undefined, program: string): boolean =>
  !FOR_ONE.test(name) && !BUILTIN.test(program) && (value === undefined || !HARMLESS.some((one) => one.test(`${name}=${value}`)))

/** Whether what runs afterwards may do something else for it. */
export const steers = (name: string, value: string | undefined): boolean =>
  (NAMES.has(name) || KINDS.test(name)) && !(value !== undefined && HARMLESS.some((one) => one.test(`${name}=${value}`)))
