/** Removes the values of secret variables from what leaves the process. */

const SECRET_NAME = /key|token|secret|pass|credential|auth|cookie|dsn/i
/** Shorter values are ordinary words. */
const MIN_LENGTH = 8

/** Returns the values of variables whose names say that they are secret, longest first. */
export const secretsIn = (env: NodeJS.ProcessEnv): readonly string[] =>
  Object.entries(env)
    .flatMap(([name, value = '']) => (SECRET_NAME.test(name) && value.length >= MIN_LENGTH ? [value] : []))
    .toSorted((a, b) => b.length - a.length)

/** @returns a function that replaces the secrets, also as they are written in JSON */
export function withoutSecrets(secrets: readonly string[]): (text: string) => string {
  const written = [...new Set(secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]))]
  return (text) => written.reduce((rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[secret]') : rest), text)
}
