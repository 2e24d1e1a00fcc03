/** Removes the values of secret variables from what leaves the process. */

const SECRET_NAME = /key|token|secret|pass|credential|auth|cookie|dsn/i
/** Shorter values are ordinary words. */
const MIN_LENGTH = 8

/** Returns the values of variables whose names say that they are secret. */
export const secretsIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.entries(env).flatMap(([name, value = '']) => (SECRET_NAME.test(name) && value.length >= MIN_LENGTH ? [value] : []))

/** Returns the values of headers that carry a credential, without the name of its scheme. */
export const secretsOfHeaders = (headers: Readonly<Record<string, string>>): readonly string[] =>
  secretsIn(headers).flatMap((value) => [value, ...value.split(/\s+/).filter((part) => part.length >= MIN_LENGTH)])

/** @returns a function that replaces the secrets, the longest first, also as they are written in JSON */
export function withoutSecrets(secrets: readonly string[]): (text: string) => string {
  const written = [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))].toSorted(
    (a, b) => b.length - a.length,
  )
  return (text) => written.reduce((rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[secret]') : rest), text)
}
