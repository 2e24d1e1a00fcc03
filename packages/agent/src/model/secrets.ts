/** Removes secrets from text written by others. */

/** Shorter secrets are ignored: they would match ordinary words. */
const MIN_LENGTH = 4

/** Removes secrets from a text, both as they are and as encoded in JSON, URLs and base64. Cut a text after redacting it, never before. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap(forms)
    .reduce((redacted, form) => redacted.replaceAll(form, '[secret]'), text)
}

/** Returns the forms of a secret, longest first, since a shorter form may be part of a longer one. */
function forms(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(secret.toWellFormed())
  const all = [secret, json, json.replaceAll('/', '\\/'), url, url.replace(/%../g, (byte) => byte.toLowerCase()), ...base64(secret)]
  return [...new Set(all)].toSorted((a, b) => b.length - a.length)
}

/**
 * Returns the base64 forms of a secret: alone, and within a longer text, where its first byte may be at any of three positions in a
 * group.
 */
function base64(secret: string): readonly string[] {
  const within = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
    return bytes.toString('base64').slice(Math.ceil((offset * 4) / 3), Math.floor((bytes.length * 4) / 3))
  })
  const all = [Buffer.from(secret).toString('base64'), ...within]
  return [...all, ...all.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}
