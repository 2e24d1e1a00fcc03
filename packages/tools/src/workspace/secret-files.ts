/** Detects files with keys and passwords by path, and by content if the name alone is not conclusive. Pure. */

interface SecretName {
  readonly names: RegExp
  /** Content that makes the file secret, for names that other files have too. */
  readonly content?: RegExp
  /** Key material that repositories also keep as test fixtures. */
  readonly isKey?: true
}

const PRIVATE_KEY = /-----BEGIN (?:[A-Z0-9 ]+ )?PRIVATE KEY(?: BLOCK)?-----/
/** Matches everything except what is clearly not a private key: a public key, a certificate, a zip archive (Keynote). */
const NOT_PUBLIC = /^(?!\s*-----BEGIN (?:PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)|PK\x03\x04)[\s\S]|PRIVATE KEY/

/** Rules for file names, in lower case. */
const NAMES: readonly SecretName[] = [
  { names: /^\.env(?:\..+)?$/ },
  { names: /^id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?(?:\.(?!pub$)\w+)?$|^ssh_host_\w+_key$/, isKey: true },
  { names: /\.(?:p12|pfx|jks|keystore|ppk)$/, isKey: true },
  { names: /\.(?:pem|asc)$/, content: PRIVATE_KEY, isKey: true },
  { names: /\.key$/, content: NOT_PUBLIC, isKey: true },
  { names: /\.(?:kdbx?|ovpn|agekey)$|^(?:secring\.gpg|wallet\.dat)$/ },
  {
    names: /^[._]netrc$|^\.(?:git-credentials|pgpass|my\.cnf|mylogin\.cnf|dockercfg|htpasswd|vault-token|s3cfg|boto|flyrc|databrickscfg)$/,
  },
  { names: /^\.npmrc$/, content: /_auth|_password|\/\/[^\s/]*:[^\s/]*@/i },
  { names: /^\.yarnrc(?:\.yml)?$/, content: /auth(?:token|ident)|_auth/i },
  { names: /^\.pypirc$/, content: /password|token/i },
  { names: /^\.terraformrc$|^terraform\.rc$/, content: /token/i },
  { names: /\.tfstate(?:\.backup)?$|\.tfvars(?:\.json)?$|^credentials\.tfrc\.json$/ },
  { names: /^credentials(?:\.(?:json|ya?ml|toml|ini|db))?$/ },
  { names: /^(?:application_default_credentials|client_secrets?.*|(?:.*-)?service[-_]?account.*|.*-firebase-adminsdk-.*)\.json$/ },
  // Only these extensions, because source code often has such names too.
  { names: /^secrets?(?:\..*)?\.(?:ya?ml|json5?|jsonc|toml|ini|env|properties|conf|cfg|xml|txt|csv|sh|plist|sops|db)$|^secrets?$/ },
  { names: /^\.envrc$|^(?!\.).+\.env$/, content: /(?:key|token|secret|passw(?:or)?d|pwd|credential|auth|dsn|_url)\w*\s*=\s*\S/i },
  { names: /^kubeconfig(?:\.ya?ml)?$|\.kubeconfig$/ },
  { names: /^(?:logins\.json|key[34]\.db|login data|cookies(?:\.sqlite)?)$/ },
  { names: /^\.(?:bash|zsh|sh|psql|mysql|python|node_repl|sqlite|rediscli)_history$/ },
]

/**
 * Globs for the names of all secret files that are not hidden, in lower case; a few other files match too. Used by searches to leave them
 * out.
 */
export const SECRET_GLOBS: readonly string[] = [
  ...['id_{rsa,dsa,ecdsa,ed25519,xmss}*', 'ssh_host_*', '*.{p12,pfx,jks,keystore,ppk,pem,asc,key,kdb,kdbx,ovpn,agekey}'],
  ...['secring.gpg', 'wallet.dat', '_netrc', '*.{tfstate,tfstate.backup,tfvars,tfvars.json}', 'terraform.rc'],
  ...['credentials', 'credentials.{json,yaml,yml,toml,ini,db,tfrc.json}', 'application_default_credentials.json'],
  ...['client_secret*.json', '*service*account*.json', '*firebase-adminsdk*.json'],
  ...['secret', 'secrets', '{secret,secrets}.*{yaml,yml,json,json5,jsonc,toml,ini,env,properties,conf,cfg,xml,txt,csv,sh,plist,sops,db}'],
  ...['*.env', 'kubeconfig', 'kubeconfig.{yml,yaml}', '*.kubeconfig'],
  ...['logins.json', 'key[34].db', 'login data', 'cookies', 'cookies.sqlite'],
  // Windows drops trailing dots and spaces, and treats a backslash as a separator.
  ...['*[. ]', '*[\\\\]*'],
]

/** Files that are secret because of their folder. Each pattern matches from the root of a path or after a slash. */
const PLACES: readonly RegExp[] = [
  /(?:^|\/)\.ssh\/(?!known_hosts(?:\.old)?$|config$|authorized_keys$|[^/]*\.pub$)[^/]+$/,
  /(?:^|\/)\.(?:aws|azure|gnupg|password-store|kube|oci)\/./,
  /(?:^|\/)\.config\/(?:gcloud|gh|hub|rclone|op|doctl|heroku|sops)\/./,
  /(?:^|\/)\.config\/(?:git\/credentials|containers\/auth\.json)$/,
  /(?:^|\/)\.docker\/config\.json$/,
  /(?:^|\/)\.(?:cargo|gem)\/credentials(?:\.toml)?$/,
  /(?:^|\/)\.local\/share\/(?:keyrings|kwalletd)\/./,
  /^\/(?:var\/)?run\/secrets\/./,
]

/** Folders that make their files secret. The files would lose that protection if they were moved elsewhere. */
const FOLDERS =
  /(?:^|\/)\.(?:ssh|aws|azure|gnupg|password-store|kube|oci|docker|cargo|gem)$|(?:^|\/)\.config(?:\/(?:gcloud|gh|hub|rclone|op|doctl|heroku|sops|git|containers))?$|(?:^|\/)\.local(?:\/share(?:\/(?:keyrings|kwalletd))?)?$/

/** Templates list the available settings without their values. */
const TEMPLATE = /\.(?:example|sample|template|tmpl|tpl|dist|defaults?|schema)(?:\.(?:ya?ml|json|toml|ini|env|tfvars|properties|txt))?$/

const TESTS = /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|__fixtures__|testdata|test-data|e2e|mocks?)\//

/** Number of characters from the start of a file that {@link isSecretFile} needs. */
export const SECRET_HEAD = 65_536

/** Returns `secret` if the path makes the file secret, `perhaps` if its content decides. */
export function secretName(path: string): 'secret' | 'perhaps' | undefined {
  const found = entryOf(path)
  return found === undefined ? undefined : found.content ? 'perhaps' : 'secret'
}

/**
 * Returns true if a file contains keys or passwords.
 * @param path relative to the workspace or absolute. Case does not matter, because some file systems ignore it
 * @param head first {@link SECRET_HEAD} characters of the file, if known. Without them, a file whose name may be secret counts as secret
 * @example
 * isSecretFile('.env') // true
 * isSecretFile('.env.example') // false
 * isSecretFile('ca.pem', '-----BEGIN CERTIFICATE-----') // false
 */
export function isSecretFile(path: string, head?: string): boolean {
  const found = entryOf(path)
  return found !== undefined && (!found.content || head === undefined || found.content.test(head))
}

/** Returns true if a folder makes the files in it secret. */
export const isSecretFolder = (path: string): boolean => FOLDERS.test(folded(path))

/**
 * Returns true for key material among tests, such as the certificate of a test server. If git tracks it, it is not secret, and the tests
 * that a command runs need it, so it stays readable when secret files are hidden from commands.
 */
export const isTestKey = (path: string): boolean => entryOf(path)?.isKey === true && TESTS.test(folded(path))

const PLACE: SecretName = { names: /^/ }
/** Combined patterns, to dismiss the many files that match none of them quickly. */
const ANY_NAME = anyOf(NAMES.map(({ names }) => names))
const ANY_PLACE = anyOf(PLACES)

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'))
}

function entryOf(path: string): SecretName | undefined {
  const text = folded(path)
  const name = text.slice(text.lastIndexOf('/') + 1)
  if (ANY_PLACE.test(text)) return PLACE
  return ANY_NAME.test(name) && !TEMPLATE.test(name) ? NAMES.find(({ names }) => names.test(name)) : undefined
}

/** Windows drops dots and spaces at the ends of names. */
const folded = (path: string): string =>
  path
    .replaceAll('\\', '/')
    .toLowerCase()
    .replace(/(?<=[^./ ])[. ]+(?=\/|$)/g, '')
