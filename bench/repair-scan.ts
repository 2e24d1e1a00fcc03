/** Measures the cost of searching a reply that contains no calls, and whether it stays linear in the length for any content. */
import { loadavg } from 'node:os'
import { createReplyReader, families, indexTools } from '@mulligan/repair'
import { type Go, inTurns, timed } from './measure.ts'
import { median } from './stats.ts'
import type { Row, Table } from './table.ts'

const SMALL = 1_000_000
const LARGE = 10 * SMALL
const CHUNK = 64 * 1024
const ROUNDS = { warmUp: 1, rounds: 5 }
const FEW = { warmUp: 0, rounds: 3 }
/** Lengths that are tried first, so that a text with superlinear cost is abandoned early. */
const FIRST = [SMALL / 64, SMALL / 16, SMALL / 4, SMALL]
const patienceMs = (length: number): number => 500 + (6 * length) / 1000

const PROSE = `The harbour was quiet in the morning, and the boats that had come in during the night lay close together.
She counted them twice (there were 14), wrote the number down, and went on along the wall; nobody was awake yet.

"It is early," he said. It's what he always said - and then, as always, he made coffee for everyone who was there: 3 cups, 4 on Sundays.
`

const HOSTILE: readonly string[] = [
  '<tool_call>',
  '<tool_call>look<arg_key>',
  '{"name":"x","arguments":{',
  '\n{"name":"look","arguments":{',
  '[TOOL_CALLS]',
  '[TOOL_CALLS]a{',
  '<think>',
  '</think>',
  '`',
  '```\n',
  '<|tool_call_begin|>',
  '<｜tool▁calls▁begin｜>',
  '[f(',
  '\n[look(',
  '<|python_tag|>',
  'to=functions.',
  '<|channel|>commentary to=functions.look<|message|>{',
  '<invoke name="a">',
  '<function=a>',
  '<function=look><parameter=a>',
  '\nlook\n',
  '<',
]
/** Text that closes no opener. */
const TAIL = '\nThat is all.'

const index = indexTools([{ name: 'look', parameters: { type: 'object', properties: { path: { type: 'string' } } } }])
const filled = (unit: string, length: number): string => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
const hostile = (unit: string, length: number): string => filled(unit, length - TAIL.length) + TAIL

/** How much of the text was shown, so that parsing is not optimized away and omissions are visible. */
function read(text: string, chunk: number): number {
  const reader = createReplyReader(index, { families })
  let shown = 0
  for (let at = 0; at < text.length; at += chunk) shown += reader.push(text.slice(at, at + chunk)).text.length
  return shown + reader.end().text.length
}

const go =
  (work: () => unknown): Go =>
  async () => [await timed(work)]

/** The first length that takes too long, if any. The shortest is tried with the last opener cut off at each of its characters. */
async function givenUpAt(unit: string): Promise<number | undefined> {
  const torn = Array.from(unit, (_, at) => Math.min(...FIRST) + at)
  for (const length of [...torn, ...FIRST.slice(1)]) {
    const text = hostile(unit, length)
    const late = async (): Promise<boolean> => (await timed(() => read(text, CHUNK))) > patienceMs(length)
    // Twice, because garbage collection can distort one.
    if ((await late()) && (await late())) return length
  }
  return undefined
}

interface Growth {
  readonly large: number
  readonly ratio: number
}

/** The large and the small one in turns. */
async function growth(small: string, large: string, chunk: number, rounds: typeof ROUNDS): Promise<Growth> {
  const samples = await inTurns({ small: go(() => read(small, chunk)), large: go(() => read(large, chunk)) }, rounds)
  return { large: median(samples.large), ratio: median(samples.large) / median(samples.small) }
}

async function prose(): Promise<readonly Row[]> {
  const text = filled(PROSE, LARGE)
  const bytes = new TextEncoder().encode(text)
  const yardstick = () => new TextDecoder().decode(bytes).indexOf('<tool_call>')
  for (const chunk of [LARGE, CHUNK]) if (read(text, chunk) !== text.length) throw new Error('the prose was not shown completely')
  const samples = await inTurns(
    { yardstick: go(yardstick), whole: go(() => read(text, LARGE)), chunks: go(() => read(text, CHUNK)) },
    { warmUp: 2, rounds: 11 },
  )
  const ms = { yardstick: median(samples.yardstick), whole: median(samples.whole), chunks: median(samples.chunks) }
  const small = filled(PROSE, SMALL)
  const [whole, chunks] = [await growth(small, text, LARGE, ROUNDS), await growth(small, text, CHUNK, ROUNDS)]
  const line = (subject: string, large: number, { ratio }: Growth): Row => ({
    subject,
    values: { '10 MB ms': large, 'ratio to decoding': large / ms.yardstick, '10 MB / 1 MB': ratio },
  })
  return [
    { subject: '`TextDecoder.decode` and one `indexOf`', values: { '10 MB ms': ms.yardstick, 'ratio to decoding': 1 } },
    line('prose, one chunk', ms.whole, whole),
    line('prose, chunks of 64 KB', ms.chunks, chunks),
  ]
}

const shown = (unit: string): string => `\`\` ${unit.replaceAll('\n', '\\n').replaceAll('|', '\\|')} \`\``

export async function bench(): Promise<Table> {
  const before = loadavg()
  const rows = [...(await prose())]
  const late: string[] = []
  const grown: ({ readonly unit: string } & Growth)[] = []
  const grow = async (unit: string, rounds: typeof ROUNDS) => ({
    unit,
    ...(await growth(hostile(unit, SMALL), hostile(unit, LARGE), CHUNK, rounds)),
  })
  for (const unit of HOSTILE) {
    const length = await givenUpAt(unit)
    if (length === undefined) grown.push(await grow(unit, { warmUp: 0, rounds: 1 }))
    else late.push(`${shown(unit)} (${length / 1000} KB)`)
  }
  const steepest = grown.toSorted((a, b) => b.ratio - a.ratio)[0]
  const slowest = grown.toSorted((a, b) => b.large - a.large)[0]
  for (const [what, one] of Object.entries({ steepest, slowest })) {
    if (!one) continue
    const { unit, large, ratio } = await grow(one.unit, FEW)
    rows.push({ subject: `${what}: ${shown(unit)}`, values: { '10 MB ms': large, '10 MB / 1 MB': ratio } })
  }
  const load = (loads: readonly number[]) => loads.map((one) => one.toFixed(2)).join(' ')
  const note = [
    `The parser with all families. Below the prose, the worst of ${HOSTILE.length} openers, each repeated and left open, in chunks of 64 KB.`,
    ...(late.length > 0 ? [`Aborted at a length that took more than half a second and 6 ms/KB: ${late.join(', ')}.`] : []),
    `Load ${load(before)} before, ${load(loadavg())} after.`,
  ].join(' ')
  return { title: 'repair-scan: a reply without a call', note, rows }
}
