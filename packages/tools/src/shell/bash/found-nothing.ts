/** A program that is not there, or that cannot be run: which one was meant. Pure. */
import { nearest } from '@mulligan/core'

export interface Missing {
  readonly name: string
  /** 126: it is there, and may not be run. */
  readonly how: 'missing' | 'not_executable'
}

/** What a shell says of it: bash, then dash and busybox. */
const SAYS: readonly (readonly [RegExp, Missing['how']])[] = [
  [/^\S*sh: (?:line )?\d+: (.+?): command not found$/m, 'missing'],
  [/^\S*sh: (?:line )?\d+: (.+?): not found$/m, 'missing'],
  [/^\S*sh: (?:line )?\d+: (.+?): No such file or directory$/m, 'missing'],
  [
    /^(?:env|timeout|nice|nohup|setsid|stdbuf|xargs|exec): (?:failed to run command )?['"‘]?(.+?)['"’]?: No such file or directory$/m,
    'missing',
  ],
  [/^\S*sh: (?:line )?\d+: (.+?): (?:Permission denied|Is a directory)$/m, 'not_executable'],
  [/^(?:env|timeout|nice|nohup|setsid|stdbuf|xargs): (?:failed to run command )?['"‘]?(.+?)['"’]?: Permission denied$/m, 'not_executable'],
]

export function missingIn(exitCode: number | null, stderr: string): Missing | undefined {
  const how = exitCode === 127 ? 'missing' : exitCode === 126 ? 'not_executable' : undefined
  for (const [says, kind] of SAYS) {
    const name = kind === how ? says.exec(stderr)?.[1] : undefined
    if (name !== undefined) return { name, how: kind }
  }
  return undefined
}

/** The same program under the name it has elsewhere. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  python: ['python3'],
  python3: ['python'],
  pip: ['pip3', 'python3 -m pip'],
  pip3: ['pip', 'python3 -m pip'],
  nodejs: ['node'],
  node: ['nodejs'],
  fd: ['fdfind'],
  bat: ['batcat'],
  gmake: ['make'],
  gsed: ['sed'],
  gawk: ['awk'],
  md5: ['md5sum'],
  shasum: ['sha256sum'],
  cc: ['gcc', 'clang'],
  gcc: ['cc', 'clang'],
  pytest: ['python3 -m pytest', 'python -m pytest'],
  dir: ['ls'],
  cls: ['clear'],
}

/** Programs that are installed on purpose: no other name comes near them. */
const INSTALLED = new Set(
  `cargo rustc rustup go java javac mvn gradle dotnet docker podman kubectl helm terraform ansible aws gcloud az gh jq yq tree rg fd ag make cmake
  gcc g++ clang ruby gem bundle php composer perl deno bun pnpm yarn poetry uv pipenv conda swift kotlin scala elixir mix erl ghc stack ocaml
  psql mysql sqlite3 redis-cli ffmpeg convert curl wget zip unzip rsync shellcheck pandoc nvim tsx ts-node`.split(/\s+/),
)

export interface Known {
  /** What the shell inside can run. */
  readonly programs: readonly string[]
  /** Scripts of `package.json`, and how they are run: `npm run`. */
  readonly scripts: readonly string[]
  readonly runner: string
  /** In `node_modules/.bin`. */
  readonly bins: readonly string[]
}

/** What to write in its place, best first. */
export function inPlaceOf(name: string, { programs, scripts, runner, bins }: Known): string[] {
  const there = new Set(programs)
  const exists = (line: string): boolean => there.has(line.split(' ')[0] as string)
  const own = [
    ...(bins.includes(name) ? [`npx ${name}`] : []),
    ...(scripts.includes(name) ? [`${runner} ${name}`] : []),
    ...(Object.hasOwn(ALSO, name) ? (ALSO[name] as readonly string[]).filter(exists) : []),
  ]
  if (own.length > 0 || INSTALLED.has(name)) return own
  const near = nearest(
    name,
    [...new Set([...programs, ...bins, ...scripts])].filter((one) => !NEVER.test(one)),
  )
  return near
    .filter((one) => Math.abs(one.length - name.length) <= MAX_LONGER)
    .map((one) => (there.has(one) ? one : bins.includes(one) ? `npx ${one}` : `${runner} ${one}`))
}

/** Names that only have letters in common are no help. */
const MAX_LONGER = 2
/** A slip of the keyboard is no reason to offer these. */
const NEVER = /^(?:rm|rmdir|dd|mkfs.*|wipefs|shred|unlink|truncate|kill\w*|pkill|shutdown|reboot|halt|poweroff|sudo|su|[^\w].*)$/

export const isInstalled = (name: string): boolean => INSTALLED.has(name)
