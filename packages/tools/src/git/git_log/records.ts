/** Reads what `git log` prints in {@link FORMAT}. Pure. */

/** A field a line would not do: a subject can have anything but NUL in it. */
const FIELDS = ['%H', '%P', '%an', '%ae', '%aI', '%D', '%B'] as const
export const FORMAT = `--format=tformat:${FIELDS.join('%x00')}%x00`

export interface Commit {
  readonly hash: string
  readonly parents: readonly string[]
  readonly author: string
  readonly email: string
  /** ISO 8601, in the author's time zone. */
  readonly date: string
  /** Branches and tags that point to it. */
  readonly refs: readonly string[]
  readonly subject: string
  /** Empty when there is only a subject. */
  readonly body: string
}

/** @param printed with a newline after each record's last NUL */
export function commits(printed: string): Commit[] {
  const fields = printed.split('\0')
  const found: Commit[] = []
  for (let at = 0; at + FIELDS.length < fields.length; at += FIELDS.length) {
    const [hash = '', parents = '', author = '', email = '', date = '', refs = '', message = ''] = fields.slice(at, at + FIELDS.length)
    const [subject = '', ...rest] = message.trim().split('\n')
    found.push({
      hash: hash.replace(/^\n/, ''),
      parents: parents.split(' ').filter((one) => one !== ''),
      author,
      email,
      date,
      refs: refs.split(', ').filter((one) => one !== ''),
      subject,
      body: rest.join('\n').trim(),
    })
  }
  return found
}
