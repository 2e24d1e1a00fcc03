/** Paths in the headers of patches. Pure. */

const ESCAPES: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11, '\\': 92, '"': 34 }

/** The path of a `--- ` or `+++ ` line: without a time stamp, and out of git's quotes. */
export function pathOf(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text)
  return quoted ? unescaped(quoted[1] as string) : (text.split('\t')[0] as string).trimEnd()
}

/** Git writes bytes above ASCII as octal numbers. */
function unescaped(text: string): string {
  const bytes: Buffer[] = []
  for (const [, octal, sign, plain] of text.matchAll(/\\([0-7]{1,3})|\\(.)|([^\\]+)/g)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8) & 0xff]))
    else if (sign !== undefined) bytes.push(Buffer.from(ESCAPES[sign] === undefined ? sign : String.fromCharCode(ESCAPES[sign])))
    else bytes.push(Buffer.from(plain as string))
  }
  return Buffer.concat(bytes).toString('utf8')
}

export const isNothing = (path: string): boolean => path === '/dev/null'

/** Without `a/` and `b/`, which stand for the two sides and not for folders. */
export function withoutSides(before: string, after: string): { readonly before: string; readonly after: string } {
  const sided = (isNothing(before) || before.startsWith('a/')) && (isNothing(after) || after.startsWith('b/'))
  const bare = (path: string): string => (sided && !isNothing(path) ? path.slice(2) : path)
  return { before: bare(before), after: bare(after) }
}

const NAMED = /^\s*\*\*\*\s*(?:(?:Add|Delete|Update)\s+File|Move\s+to)\s*:[ \t]*(.*?)\s*$/gim
const PAIR = /^--- (\S.*)\r?\n\+\+\+ (\S.*)$/gm
const RENAME = /^rename (?:from|to) (.+?)\s*$/gm

/** The paths that a patch names, for policies and the ledger: also of one that does not parse. */
export function targetsOf(patch: string): string[] {
  const paths = new Set<string>()
  for (const [, path = ''] of patch.matchAll(NAMED)) paths.add(path)
  for (const [, before = '', after = ''] of patch.matchAll(PAIR)) {
    const sides = withoutSides(pathOf(before), pathOf(after))
    for (const path of [sides.before, sides.after]) if (!isNothing(path)) paths.add(path)
  }
  for (const [, path = ''] of patch.matchAll(RENAME)) paths.add(pathOf(path))
  return [...paths].filter((path) => path !== '' && !path.includes('\0'))
}
