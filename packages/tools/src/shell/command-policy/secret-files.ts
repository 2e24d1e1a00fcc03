/** Files that hold keys, by their names. Pure. */

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
  /^\/proc\/[^/]+\/(?:environ|mem)$/,
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
  // Read as a whole they give what they hold.
  /^~\/\.(?:ssh|aws|gnupg|password-store|azure|kube|docker)$|^~\/\.config\/(?:gcloud|gh)$|^\/(?:var\/)?run\/secrets$/,
]

/** @param path absolute */
export function isSecretPath(path: string, home: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const own = [home, '/root'].find((one) => path.startsWith(`${one}/`)) ?? /^\/(?:home|Users)\/[^/]+(?=\/)/.exec(path)?.[0]
  const forms = own === undefined ? [path] : [path, `~${path.slice(own.length)}`]
  return NAMES.some((one) => one.test(name)) || forms.some((form) => PLACES.some((one) => one.test(form)))
}
