/** Which files hold keys and passwords: by their path, and by their content where the name alone does not say. Pure. */

interface SecretName {
  readonly names: RegExp
  /** Of a name that other files have too: what the content must have in it. */
  readonly content?: RegExp
  /** Key material, which repositories also keep as fixtures of tests. */
  readonly isKey?: true
}

const PRIVATE_KEY = /-----BEGIN (?:[A-Z0-9 ]+ )?PRIVATE KEY(?: BLOCK)?-----/
/** Only what is plainly no private key: a public one, a certificate, a zip archive (Keynote). */
const NOT_PUBLIC = /^(?!\s*-----BEGIN (?:PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)|PK\x03\x04)[\s\S]|PRIVATE KEY/

/** By the name of the file, in lower case. */
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
  // Code is named so too, and is read every day.
  { names: /^secrets?(?:\..*)?\.(?:ya?ml|json5?|jsonc|toml|ini|env|properties|conf|cfg|xml|txt|csv|sh|plist|sops|db)$|^secrets?$/ },
  { names: /^\.envrc$|^(?!\.).+\.env$/, content: /(?:key|token|secret|passw(?:or)?d|pwd|credential|auth|dsn|_url)\w*\s*=\s*\S/i },
  { names: /^kubeconfig(?:\.ya?ml)?$|\.kubeconfig$/ },
  { names: /^(?:logins\.json|key[34]\.db|login data|cookies(?:\.sqlite)?)$/ },
  { names: /^\.(?:bash|zsh|sh|psql|mysql|python|node_repl|sqlite|rediscli)_history$/ },
]

/**
 * Globs for the names of all secret files that are not hidden, in lower case; a few other files match too. For a search that
 * leaves them out.
 */
export const SECRET_GLOBS: readonly string[] = [
  ...['id_{rsa,dsa,ecdsa,ed25519,xmss}*', 'ssh_host_*', '*.{p12,pfx,jks,keystore,ppk,pem,asc,key,kdb,kdbx,ovpn,agekey}'],
  ...['secring.gpg', 'wallet.dat', '_netrc', '*.{tfstate,tfstate.backup,tfvars,tfvars.json}', 'terraform.rc'],
  ...['credentials', 'credentials.{json,yaml,yml,toml,ini,db,tfrc.json}', 'application_default_credentials.json'],
  ...['client_secret*.json', '*service*account*.json', '*firebase-adminsdk*.json'],
  ...['secret', 'secrets', '{secret,secrets}.*{yaml,yml,json,json5,jsonc,toml,ini,env,properties,conf,cfg,xml,txt,csv,sh,plist,sops,db}'],
  ...[
    '*.env',
    'kubeconfig',
    'kubeconfig.{yml,yaml}',
    '*.kubeconfig',
    'logins.json',
    'key[34].db',
    'login data',
    'cookies',
    'cookies.sqlite',
  ],
  // Windows drops what is at the end, and a backslash there begins a name.
  ...['*[. ]', '*[\\\\]*'],
]

/** Where the folder says it; each is a part of a path from its root or a slash on. */
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

/** Folders whose files are secret for lying there: moved elsewhere, the files would lose that mark. */
const FOLDERS =
  /(?:^|\/)\.(?:ssh|aws|azure|gnupg|password-store|kube|oci|docker|cargo|gem)$|(?:^|\/)\.config(?:\/(?:gcloud|gh|hub|rclone|op|doctl|heroku|sops|git|containers))?$|(?:^|\/)\.local(?:\/share(?:\/(?:keyrings|kwalletd))?)?$/

/** They show which settings there are, without their values. */
const TEMPLATE = /\.(?:example|sample|template|tmpl|tpl|dist|defaults?|schema)(?:\.(?:ya?ml|json|toml|ini|env|tfvars|properties|txt))?$/

const TESTS = /(?:^|\/)(?:tests?|__tests__|specs?|fixtures?|__fixtures__|testdata|test-data|e2e|mocks?)\//

/** Characters from the start of a file that {@link isSecretFile} needs to see. */
export const SECRET_HEAD = 65_536

/** `secret`: its path says so. `perhaps`: its content decides. */
export function secretName(path: string): 'secret' | 'perhaps' | undefined {
  const found = entryOf(path)
  return found === undefined ? undefined : found.content ? 'perhaps' : 'secret'
}

/**
 * Whether a file holds keys or passwords.
 * @param path relative to the workspace or absolute. Letter case does not count: some file systems take names in any case for the same
 * @param head its first {@link SECRET_HEAD} characters, where they are known. A file whose name may be secret is taken for one without them
 * @example
 * isSecretFile('.env') // true
 * isSecretFile('.env.example') // false
 * isSecretFile('ca.pem', '-----BEGIN CERTIFICATE-----') // false
 */
export function isSecretFile(path: string, head?: string): boolean {
  const found = entryOf(path)
  return found !== undefined && (!found.content || head === undefined || found.content.test(head))
}

/** Whether a folder makes the files in it secret. */
export const isSecretFolder = (path: string): boolean => FOLDERS.test(folded(path))

/**
 * Key material among the tests, such as the certificate of a test server. Where git tracks it, it is no secret, and the tests that
 * a command runs need it: what masks secret files for commands leaves it readable.
 */
export const isTestKey = (path: string): boolean => entryOf(path)?.isKey === true && TESTS.test(folded(path))

const PLACE: SecretName = { names: /^/ }
/** All at once, for the many files that are none of them. */
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
