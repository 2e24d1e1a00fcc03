/** Removes secrets from text written by others. */

/** Shorter ones would be found in ordinary words. */
const MIN_LENGTH = 4

/** The text without the secrets, as they are and as JSON, a URL or base64 hold them. Cut a text after this, never before. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap(forms)
    .reduce((redacted, form) => redacted.replaceAll(form, '[secret]'), text)
}

/** Longest first: a shorter form may be a part of a longer one. */
function forms(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1)
  const url = encodeURIComponent(secret.toWellFormed())
  const all = [secret, json, json.replaceAll('/', '\\/'), url, url.replace(/%../g, (byte) => byte.toLowerCase()), ...base64(secret)]
  return [...new Set(all)].toSorted((a, b) => b.length - a.length)
}

/** Alone, and within a longer text: there its first byte may be at three places of a group. */
function base64(secret: string): readonly string[] {
  const within = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
    return bytes.toString('base64').slice(Math.ceil((offset * 4) / 3), Math.floor((bytes.length * 4) / 3))
  })
  const all = [Buffer.from(secret).toString('base64'), ...within]
  return [...all, ...all.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))]
}
