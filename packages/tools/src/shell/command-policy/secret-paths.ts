/** Files that hold keys, by their paths: those of {@link isSecretFile}, and what the system and a home have besides. Pure. */
import { isSecretFile } from '../../workspace/secret-files.ts'

/** `~` is a home. */
const PLACES: readonly RegExp[] = [
  /^\/etc\/(?:g?shadow-?|sudoers|security\/opasswd|krb5\.keytab)$/,
  /^\/etc\/sudoers\.d\//,
  /^\/proc\/[^/]+\/(?:environ|mem)$/,
  /^\/(?:proc\/kcore|dev\/k?mem)$/,
  /^\/dev\/(?:r?disk\d|[shvx]v?d[a-z]|nvme\d|mmcblk\d|mapper\/|dm-\d)/,
  /^~\/\.(?:chef|databrickscfg)\/./,
  /^~\/\.config\/(?:gcloud|gh|hub|rclone|op|doctl|heroku|sops|git\/credentials|containers\/auth\.json)(?:\/|$)/,
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
  const own = [home, '/root'].find((one) => path.startsWith(`${one}/`)) ?? /^\/(?:home|Users)\/[^/]+(?=\/)/.exec(path)?.[0]
  const forms = own === undefined ? [path] : [path, `~${path.slice(own.length)}`]
  return isSecretFile(path) || forms.some((form) => PLACES.some((one) => one.test(form)))
}
