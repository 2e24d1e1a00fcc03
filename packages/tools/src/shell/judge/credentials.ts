/** Programs that print keys and passwords which they keep. */
import type { Arg } from './value.ts'

const PRINTERS: readonly RegExp[] = [
  /^gh auth (?:token|status\b.*(?: -t\b| --show-token))/,
  /^git credential(?:-\S+)?(?: fill| get|$)/,
  /^git-credential-\S+ get/,
  /^gpg2?\b.* --export-secret/,
  /^security (?:find-(?:generic|internet)-password|dump-keychain|export)/,
  /^secret-tool (?:lookup|search)/,
  /^(?:pass|gopass|passage) (?:show |ls .*\.|-c |otp )/,
  /^op (?:read|item get|document get)/,
  /^(?:bw|bws|rbw) (?:get|list|export|secret)/,
  /^lpass (?:show|export)/,
  /^vault (?:read|kv get|token (?:create|lookup)|print token)/,
  /^doppler secrets(?: |$)/,
  /^infisical (?:secrets|export)/,
  /^sops (?:-d|--decrypt|decrypt|exec-)/,
  /^age (?:-d|--decrypt)/,
  /^ansible-vault (?:view|decrypt)/,
  /^keyring get/,
  /^kwallet-query/,
  /^aws (?:configure (?:get|export-credentials)|sts get-session-token|ecr get-login-password|secretsmanager get-secret-value|ssm get-parameters?\b.*--with-decryption)/,
  /^gcloud (?:auth (?:application-default )?print-\S+-token|secrets versions access|config config-helper)/,
  /^az (?:account get-access-token|keyvault secret show|acr credential show)/,
  /^kubectl (?:config view\b.*--raw|get secrets?\b.* (?:-o|--output)|create token)/,
  /^docker-credential-\S+ get/,
  /^heroku (?:auth:token|config(?::get)?\b)/,
  /^(?:fly|flyctl) (?:auth token|tokens)/,
  /^npm (?:token|config get .*(?:auth|password|token))/i,
  /^printenv .*(?:TOKEN|SECRET|PASSWORD|API_?KEY|CREDENTIAL)/i,
]

/** Whether it prints what others keep secret. */
export function printsKeys(name: string, args: readonly Arg[]): boolean {
  const call = [name, ...args.map(({ text }) => text)].join(' ')
  return call.length < 2000 && PRINTERS.some((one) => one.test(call))
}
