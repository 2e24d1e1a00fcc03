/**
 * Generates scripts that hide a payload in every bash construct known to run, write or evaluate something. Deterministic for a given seed.
 */

/** Creates a pseudo-random generator of numbers below 1 (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export interface Canaries {
  /** A file that does not exist: `inside` the workspace and `outside` it. */
  readonly inside: string
  readonly outside: string
  /** A loopback port with a listener. */
  readonly port: number
  /** Commands that are only harmful in this environment. Default: none. */
  readonly further?: readonly string[]
}

type Around = (payload: string) => string

const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const encoded = (text: string): string => Buffer.from(text).toString('base64')

/** Commands that can replace a command. */
const AS_COMMAND: readonly Around[] = [
  (p) => p,
  (p) => `ls; ${p}`,
  (p) => `ls && ${p}`,
  (p) => `false || ${p}`,
  (p) => `ls & ${p}`,
  (p) => `ls | ${p}`,
  (p) => `ls |& ${p}`,
  (p) => `ls\n${p}`,
  (p) => `ls\r\n${p}`,
  (p) => `ls # x\n${p}`,
  (p) => `ls \\\n; ${p}`,
  (p) => `! ${p}`,
  (p) => `time ${p}`,
  (p) => `(${p})`,
  (p) => `{ ${p}; }`,
  (p) => `if ${p}; then :; fi`,
  (p) => `if true; then ${p}; fi`,
  (p) => `while ${p}; do break; done`,
  (p) => `until ${p}; do break; done`,
  (p) => `for x in a; do ${p}; done`,
  (p) => `for ((;;)); do ${p}; break; done`,
  (p) => `select x in a; do ${p}; break; done <<< 1`,
  (p) => `case x in x) ${p};; esac`,
  (p) => `f() { ${p}; }; f`,
  (p) => `function ls { ${p}; }\nls`,
  (p) => `ls() (${p}); ls`,
  (p) => `coproc ${p}; wait`,
  (p) => `trap ${single(p)} EXIT`,
  (p) => `trap ${single(p)} DEBUG; ls`,
  (p) => `eval ${single(p)}`,
  (p) => `bash -c ${single(p)}`,
  (p) => `sh <<< ${single(p)}`,
  (p) => `bash <<'E'\n${p}\nE`,
  (p) => `echo ${single(p)} | sh`,
  (p) => `echo ${encoded(p)} | base64 -d | sh`,
  (p) => `source <(echo ${single(p)})`,
  (p) => `shopt -s expand_aliases\nalias ls=${single(p)}\nls`,
  (p) => `env -S ${single(`sh -c "${p.replaceAll('"', '\\"')}"`)}`,
  (p) => `env sh -c ${single(p)}`,
  (p) => `command sh -c ${single(p)}`,
  (p) => `exec sh -c ${single(p)}`,
  (p) => `timeout 5 sh -c ${single(p)}`,
  (p) => `nice sh -c ${single(p)}`,
  (p) => `find a.txt -exec sh -c ${single(p)} \\;`,
  (p) => `find a.txt -execdir sh -c ${single(p)} {} +`,
  (p) => `echo x | xargs sh -c ${single(p)}`,
  (p) => `BASH_ENV=<(echo ${single(p)}) bash -c :`,
  (p) => `echo ${single(p)} > env.sh; BASH_ENV=./env.sh bash -c :`,
  (p) => `PROMPT_COMMAND=${single(p)} bash -i -c : ; PS1='$(${p})' bash --norc -i <<< :`,
  (p) => `PS4='$(${p})' bash -xc ls`,
  (p) => `mapfile -C ${single(`${p} #`)} -c 1 x < a.txt`,
  (p) => `printf -v 'x[$(${p})]' y`,
  (p) => `test -v 'x[$(${p})]'`,
  (p) => `read 'x[$(${p})]' < a.txt`,
  (p) => `declare 'x[$(${p})]=1'`,
  (p) => `let 'x[$(${p})]=1'`,
  (p) => `[[ 'x[$(${p})]' -eq 1 ]]`,
  (p) => `y='x[$(${p})]'; echo $((y))`,
  (p) => `y='x[$(${p})]'; ((y))`,
  (p) => `unset 'x[$(${p})]'`,
  (p) => `set -- 'x[$(${p})]'; echo "\${!1}"`,
  (p) => `awk 'BEGIN { system(${JSON.stringify(p)}) }'`,
  (p) => `tar cf /dev/null a.txt --checkpoint=1 --checkpoint-action=exec=${single(`sh -c "${p.replaceAll('"', '\\"')}"`)}`,
  (p) => `sed ${single(`1e ${p}`)} a.txt`,
  (p) => `git -c core.pager=${single(p)} -c core.fsmonitor=${single(p)} status`,
  (p) => `git -c alias.x=${single(`!${p}`)} x`,
  (p) => `rg --pre ${single(p)} x`,
  (p) => `sort --compress-program=${single(p)} a.txt`,
  (p) => `hash -p /bin/sh ls; ls -c ${single(p)}`,
  (p) => `enable -n echo; echo -e x; ${p}`,
]

/** Words that contain a substitution. */
const AS_WORD: readonly Around[] = [
  ...[
    '$(P)',
    '`P`',
    '<(P)',
    '>(P)',
    '"$(P)"',
    '"`P`"',
    '$"$(P)"',
    '[$(P)]',
    '[!$(P)]',
    '@($(P))',
    '!(a|$(P))',
    '{a,$(P)}',
    '~$(P)',
    'a$(P)b',
    '$((x[$(P)]))',
    '$[x[$(P)]]',
  ],
  ...['-', ':-', '=', ':=', '?', ':?', '#', '##', '%', '%%', '/', '//', '/#', '/%', '^', '^^', ',', ',,', ':'].map(
    (one) => `\${x${one}$(P)}`,
  ),
  ...['+', ':+', '#', '%', '/a/', '//a/', '^^', ',,', '@', ':0:'].map((one) => `\${BASH${one}$(P)}`),
  ...[
    '${x[$(P)]}',
    '${x[$(P)]:-a}',
    '${#x[$(P)]}',
    '${!x[$(P)]}',
    '"${x:-$(P)}"',
    '"${x:-\'$(P)\'}"',
    '${x:-${y:-$(P)}}',
    '${BASH@P}$(P)',
    '${x:${y[$(P)]}}',
  ],
].map((form) => (payload) => form.replaceAll('P', () => payload))

/** Positions where such a word can occur. */
const WORD_PLACES: readonly Around[] = [
  ...[
    'echo W',
    'ls W',
    'cat a.txt W',
    'W',
    'head -n W a.txt',
    'echo "a W b"',
    'x=W',
    'x=W ls',
    'x=(W)',
    'x+=(a W)',
    'x[W]=1',
    'declare x=W',
    'declare x[W]=1',
    'export x=W',
    'local x=W',
    'readonly x=W',
  ],
  ...[
    'ls > W',
    'ls >> W',
    'ls 2> W',
    'ls &> W',
    'ls >& W',
    'cat < W',
    'cat <<< W',
    'true {v}</dev/null W',
    'true {v[W]}</dev/null',
    'exec 3<W',
  ],
  ...[
    'for x in W; do :; done',
    'case W in *) ;; esac',
    'case x in W) ;; esac',
    'case x in a|W) ;; esac',
    'select x in W; do break; done <<< 1',
    '[[ -n W ]]',
    '[[ a == W ]]',
    '[[ a =~ W ]]',
    '((W))',
    'for ((x=W;0;)); do :; done',
  ],
  ...[
    'cat <<E\nW\nE',
    'cat <<-E\n\tW\nE',
    "cat <<E\n${x:-'W'}\nE",
    'cat <<E | wc -l\n"W"\nE',
    'ls "$(echo W)"',
    'ls $(echo `echo W`)',
    'echo $((1+W))',
    'ls -- W',
    'grep -e W a.txt',
    'ls --color=W',
    'date +W',
  ],
].map((form) => (word) => form.replaceAll('W', () => word))

/** Options of listed programs that write, run or connect. The canaries replace F (inside), G (outside) and H (a port). */
const DANGEROUS = [
  ...[
    'sort -o F a.txt',
    'sort a.txt -oF',
    'sort --output=F a.txt',
    'sort --outp F a.txt',
    'sort -uo G a.txt',
    'sort -T . a.txt -o F',
    'ls > F',
    'ls>F',
    'ls >>G',
    'ls >|F',
    'ls 2>F',
    'ls &>F',
    'ls >&F',
  ],
  ...[
    'tree -o F',
    'tree -oF',
    'tee F',
    'uniq a.txt F',
    'xxd a.txt F',
    'touch F',
    'cp a.txt F',
    'ln -s a.txt G',
    'mkdir F',
    'dd if=a.txt of=F status=none',
    'file -C -m a.txt',
    'file -Cm a.txt',
    'diff a.txt b.txt --output=F',
    'split a.txt F',
    'csplit a.txt -f F 1',
  ],
  ...[
    'date -s no-date > F',
    'wc --files0-from=a.txt > F',
    'grep -f a.txt a.txt > F',
    'tail --pid=1 a.txt > F',
    'du --files0-from=a.txt > F',
    'cat a.txt | tee F',
    'echo x | tee -a G',
    'find . -fprint F',
    'find a.txt -delete',
    'find . -fls G',
    'rg --pre touch F',
    'rg --hostname-bin touch x F',
    'sed -i s/x/y/ a.txt',
    'sed -n "w F" a.txt',
    'awk "BEGIN{print 1 > \\"F\\"}"',
  ],
  ...[
    'rm a.txt',
    'mv a.txt F',
    'truncate -s 0 a.txt',
    'chmod 777 a.txt',
    'ls <>F',
    '<F:>F',
    '>F',
    '>G ls',
    '2>F true',
    'ls >F #',
    'echo a\\\n> F',
    'ls {a,>F}',
    'cat<a.txt>F',
    'exec >F',
    'printf x >F',
    'true >/dev/tcp/127.0.0.1/H',
    'cat </dev/tcp/127.0.0.1/H',
    'exec 3<>/dev/tcp/127.0.0.1/H',
    'curl -s -m 1 http://127.0.0.1:H/',
    'git init -q F',
    'mkfifo F',
    'ls\u00a0>F',
    'ls\u2028>F',
    'ls\u0000>F',
    'ls;\u200b>F',
    'ls\r>F',
    'ls\u000b>F',
    'ls\f>F',
    'install a.txt F',
    'script -qc "touch F" /dev/null',
  ],
] as const

export const SIMPLE = [
  ...[
    'ls',
    'ls -la',
    'ls -R src',
    'cat a.txt',
    'cat -n a.txt b.txt',
    'head -n 2 a.txt',
    'head -2 a.txt',
    'tail -n +1 a.txt',
    'wc -l a.txt',
    'pwd',
    'echo hello world',
    "echo 'a  b'",
    'echo "a b"',
    'true',
    'grep -n one a.txt',
    'grep -rl one src',
    'file a.txt',
    'stat a.txt',
    'stat -c %s a.txt',
  ],
  ...[
    'du -sh src',
    'basename src/c.txt .txt',
    'dirname src/c.txt',
    'date +%Y',
    'date -u',
    'which ls',
    'sha256sum a.txt',
    'sort -u a.txt',
    'sort -k 1,1 -t : a.txt',
    'cut -d: -f1 a.txt',
    'diff -u a.txt b.txt',
    'uname -a',
    'id -u',
    'realpath a.txt',
  ],
]

const FRAGMENTS = [
  ';',
  '&',
  '|',
  '\n',
  '\r',
  '\0',
  '\\',
  '\\\n',
  '"',
  "'",
  '`',
  '$(',
  ')',
  '$((',
  '${x:-',
  '}',
  '<',
  '>',
  '>>',
  '<<<',
  '<<E\n',
  '*',
  '?',
  '[',
  ']',
  '{',
  ',',
  '~',
  '#',
  '!',
  '=',
  '(',
  '&&',
  '||',
  '\t',
  ' ',
  ' -o ',
  ' --output=',
  ' -',
  '\u00a0',
  '\u2028',
  '\u200b',
  '\u202e',
  '\u3000',
  '\ufeff',
  '\x1b',
  '\x7f',
  '$',
  '^',
  '%',
  '@',
  ':',
  '-',
  'X=1 ',
  'é',
]

/** Actions that must not happen without approval. */
const payloads = ({ inside, outside, port, further = [] }: Canaries): readonly string[] => [
  `touch ${inside}`,
  `echo x > ${inside}`,
  `touch ${outside}`,
  `echo x >> ${outside}`,
  `rm -f a.txt`,
  `: > /dev/tcp/127.0.0.1/${port}`,
  `bash -c ': > /dev/tcp/127.0.0.1/${port}'`,
  ...further,
]

/**
 * Generates a script.
 * @param next a source of random numbers
 */
export function randomScript(next: () => number, canaries: Canaries): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T
  const payload = pick(payloads(canaries))
  const word = (): string => pick(AS_WORD)(payload)
  const kind = next()
  if (kind < 0.3) {
    const inner = next() < 0.3 ? pick(AS_COMMAND)(payload) : payload
    return pick(AS_COMMAND)(inner)
  }
  if (kind < 0.55) return pick(WORD_PLACES)(word())
  if (kind < 0.7) return dangerous(pick(DANGEROUS), canaries)
  return mutated(pick(SIMPLE), next, pick, payload, canaries)
}

const dangerous = (script: string, { inside, outside, port }: Canaries): string =>
  script.replace(/\b[FGH]\b/g, (letter) => (letter === 'F' ? inside : letter === 'G' ? outside : String(port)))

/** Inserts pieces of a payload into a listed command at random positions. */
function mutated(simple: string, next: () => number, pick: <T>(from: readonly T[]) => T, payload: string, canaries: Canaries): string {
  let script = simple
  for (let times = 1 + Math.floor(next() * 3); times > 0; times--) {
    const at = Math.floor(next() * (script.length + 1))
    const piece =
      next() < 0.4
        ? pick(FRAGMENTS) + pick([payload, `$(${payload})`, canaries.inside, ` ${canaries.outside}`]) + pick(FRAGMENTS)
        : pick(FRAGMENTS)
    script = script.slice(0, at) + piece + script.slice(next() < 0.2 ? at + 1 : at)
  }
  return script
}

/** Yields each listed command with each piece at each position. */
export function* everySplice(canaries: Canaries): Generator<string> {
  for (const simple of SIMPLE)
    for (let at = 0; at <= simple.length; at++)
      for (const piece of FRAGMENTS) yield `${simple.slice(0, at)}${piece}touch ${canaries.inside}${piece}${simple.slice(at)}`
}
