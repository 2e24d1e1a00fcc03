/** Renders the report as tables. */
import type { ArmSummary, Difference, EvalReport, Interval, Quartiles } from '@mulligan/eval'
import { plural, table, thousands } from '../../ui/text.ts'

/** Renders the report as lines of plain text. */
export function reportLines(report: EvalReport): string[] {
  const { arms, differences, madeTheDifference, incomplete } = report
  return [
    ...conditionLines(report),
    ...(incomplete === undefined ? [] : ['', `INCOMPLETE: ${incomplete}. Tasks that only some arms completed are not compared.`]),
    '',
    ...table([['ARM', 'SUCCESS', '', '95 %', 'REQUESTS', 'TOKENS IN', 'TOKENS OUT', 'SECONDS', 'TOKENS PER SUCCESS'], ...arms.map(armRow)]),
    'Requests, tokens and seconds: median (quartiles) of a run.',
    ...(differences.length === 0
      ? []
      : [
          '',
          ...table([['DIFFERENCE', 'POINTS', '95 %', 'TASKS +/-', 'P', ''], ...differences.map(differenceRow)]),
          'Scores out of 100. A difference is reported as better or worse if the interval excludes 0 and P, adjusted for multiple comparisons, is below 0.05.',
        ]),
    ...madeTheDifference.flatMap(({ arm, runs, kinds, withoutRepair }) =>
      runs === 0
        ? []
        : [
            '',
            `${arm} succeeded in ${plural(runs, 'run')} that failed in bare. Calls repaired in them: ${countsText(kinds)}. Without any repaired call: ${withoutRepair}.`,
          ],
    ),
    ...countTable('CALLS REPAIRED', arms, ({ repaired }) => repaired),
    ...countTable('FAILED BECAUSE', arms, ({ failures }) => failures),
    ...taskTable(report),
  ]
}

function conditionLines({ conditions }: EvalReport): string[] {
  const { model, where, contextTokens, date, version, seed, tasks, arms, runs, maxRequests, timeout, sandbox, leftOut } = conditions
  const ids = leftOut.map(({ task }) => task)
  return [
    `${model} on ${where}, ${thousands(contextTokens)} tokens of context`,
    `${date}, mulligan ${version}, seed ${seed}`,
    `${plural(tasks.length, 'task')} × ${plural(arms.length, 'arm')} × ${plural(runs, 'run')}; a run has at most ${maxRequests} requests and ${timeout} s; sandbox: ${sandbox}`,
    ...(ids.length === 0 ? [] : [`Skipped because there is no sandbox: ${ids.join(', ')}`]),
  ]
}

const armRow = ({ arm, succeeded, measured, interval, requests, tokensIn, tokensOut, seconds, tokensPerSuccess }: ArmSummary): string[] => [
  arm,
  `${succeeded}/${measured}`,
  measured === 0 ? '-' : percent(succeeded / measured),
  measured === 0 ? '-' : `${percent(interval[0])} to ${percent(interval[1])}`,
  spread(requests, 0),
  spread(tokensIn, 0),
  spread(tokensOut, 0),
  spread(seconds, 1),
  tokensPerSuccess === undefined ? '-' : number(tokensPerSuccess, 0),
]

const differenceRow = ({ arm, than, difference, interval, better, worse, p, verdict, tasks }: Difference): string[] =>
  tasks === 0
    ? [`${arm} over ${than}`, '-', '-', '-', '-', 'no task was measured in both']
    : [`${arm} over ${than}`, points(difference), intervalText(interval), `${better}/${worse}`, pText(p), verdict]

function countTable(head: string, arms: readonly ArmSummary[], countsOf: (arm: ArmSummary) => Readonly<Record<string, number>>): string[] {
  const keys = [...new Set(arms.flatMap((arm) => Object.keys(countsOf(arm))))]
  if (keys.length === 0) return []
  const rows = keys.map((key) => [key, ...arms.map((arm) => String(countsOf(arm)[key] ?? 0))])
  return ['', ...table([[head, ...arms.map(({ arm }) => arm)], ...rows])]
}

/** Lists the tasks that did not succeed in every run. */
function taskTable({ tasks, arms }: EvalReport): string[] {
  const rows = tasks.flatMap(({ task, arms: of }) => {
    const cells = arms.map(({ arm }) => of[arm] ?? { succeeded: 0, measured: 0 })
    if (cells.every(({ succeeded, measured }) => succeeded === measured)) return []
    return [[task, ...cells.map(({ succeeded, measured }) => (measured === 0 ? '-' : `${succeeded}/${measured}`))]]
  })
  if (rows.length === 0) return []
  return ['', ...table([['TASKS NOT ALWAYS DONE', ...arms.map(({ arm }) => arm)], ...rows])]
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
const signed = (value: number): string => `${value > 0 ? '+' : ''}${Math.round(value * 100)}`
const points = signed
const intervalText = ([low, high]: Interval): string => `${signed(low)} to ${signed(high)}`
const pText = (p: number): string => (p < 0.001 ? '<0.001' : p.toFixed(3))
const number = (value: number, digits: number): string => value.toLocaleString('en', { maximumFractionDigits: digits })
const spread = (values: Quartiles | undefined, digits: number): string =>
  values === undefined ? '-' : `${number(values.median, digits)} (${number(values.q1, digits)}–${number(values.q3, digits)})`
const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([key, n]) => `${key} ${n}`)
    .join(', ') || 'none'
