/** Renders the figures as one HTML page that stands alone: no script, no network, every text escaped. */
import { html, raw } from 'hono/html'
import { bucketLabel, CAUGHT_LABELS, columnsOf, duration, OUTCOME_LABELS, percent, segmentsOf } from './present.ts'
import type { Group, Reliability } from './reliability.ts'
import { REPORT_CSS } from './report-css.ts'

type Html = ReturnType<typeof html>

/** @param options.subject what the figures are about, for the heading. @param options.now for the footer, milliseconds since 1970 */
export async function reliabilityHtml(report: Reliability, { subject, now }: { subject: string; now: number }): Promise<string> {
  const { total, turns, answered, sessions, requests } = report
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reliability: ${subject}</title>
<style>${raw(REPORT_CSS)}</style>
</head>
<body>
<header><h1>Reliability</h1><p>${subject}</p></header>
<main>
<section aria-label="Summary" class="figures">
${figure(percent(total.success), 'of calls succeeded')}
${figure(number(total.calls), `calls in ${number(requests)} requests`)}
${figure(number(total.repairs), 'repairs before a call ran')}
${figure(`${number(answered)} of ${number(turns)}`, `turns answered, ${number(sessions)} ${sessions === 1 ? 'session' : 'sessions'}`)}
</section>
${total.calls === 0 ? html`<p>No calls in this period.</p>` : overTime(report)}
${
  total.calls === 0
    ? ''
    : groups(
        'Tools',
        'Tool',
        report.tools.map(({ tool, ...group }) => [tool, group]),
      )
}
${
  total.calls === 0
    ? ''
    : groups(
        'Models',
        'Model',
        report.models.map(({ model, ...group }) => [model, group]),
      )
}
<div class="pair">
${counts(
  'What was caught',
  report.caught.map(({ what, count }) => [CAUGHT_LABELS[what], count]),
)}
<div>
${counts(
  'Repairs',
  report.repairs.map(({ kind, count }) => [kind.replaceAll('_', ' '), count]),
)}
${counts('Wrong calls until the tool succeeded', [
  ['one', report.retries.afterOne],
  ['two', report.retries.afterTwo],
  ['three or more', report.retries.afterMore],
  ['never in that turn', report.retries.never],
])}
${counts(
  'Errors',
  report.errors.map(({ errorType, count }) => [errorType.replaceAll('_', ' '), count]),
)}
</div>
</div>
</main>
<footer>Computed by Mulligan from the stored events of the engine, ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.</footer>
</body>
</html>
`
  return String(await page)
}

const number = (value: number): string => value.toLocaleString('en-US')

const figure = (value: string, label: string): Html => html`<div><b>${value}</b><span>${label}</span></div>`

function overTime({ series, bucketMs }: Reliability): Html {
  const [width, height] = [960, 160]
  const bars = columnsOf(series, bucketMs).map(
    ({ outcome, count, at, x, width: wide, from, share }) =>
      html`<rect class="o-${outcome}" x="${x * width}" y="${from * height}" width="${Math.max(1, wide * width - 1)}" height="${share * height}"><title>${day(at)}: ${count} ${OUTCOME_LABELS[outcome]}</title></rect>`,
  )
  return html`<section><h2>Outcomes over time</h2>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Shares of outcomes per ${bucketLabel(bucketMs)}" preserveAspectRatio="none">${bars}</svg>
<p class="axis"><span>${day(series[0]?.at ?? 0)}</span><span>per ${bucketLabel(bucketMs)}, UTC</span><span>${day(series.at(-1)?.at ?? 0)}</span></p>
<ul class="legend">${segmentsOf(sum(series)).map(
    ({ outcome, count }) => html`<li><i class="o-${outcome}"></i>${OUTCOME_LABELS[outcome]} <b>${number(count)}</b></li>`,
  )}</ul></section>`
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ')

function sum(groups: readonly Group[]): Group['outcomes'] {
  const total: Record<string, number> = {}
  for (const { outcomes } of groups) for (const [outcome, count] of Object.entries(outcomes)) total[outcome] = (total[outcome] ?? 0) + count
  return total
}

const groups = (title: string, of: string, rows: readonly (readonly [string, Group])[]): Html => html`<section><h2>${title}</h2>
<div class="scroll"><table><thead><tr><th scope="col">${of}</th><th scope="col">Outcomes</th><th scope="col">Succeeded</th><th scope="col">Calls</th><th scope="col">Repairs</th><th scope="col">p50</th><th scope="col">p90</th><th scope="col">p99</th></tr></thead>
<tbody>${rows.map(
  ([name, { outcomes, success, calls, repairs, latency }]) =>
    html`<tr><th scope="row">${name}</th><td>${bar(outcomes)}</td><td>${percent(success)}</td><td>${number(calls)}</td><td>${number(repairs)}</td>${[latency?.p50, latency?.p90, latency?.p99].map((ms) => html`<td>${ms === undefined ? '–' : duration(ms)}</td>`)}</tr>`,
)}</tbody></table></div></section>`

const bar = (outcomes: Group['outcomes']): Html =>
  html`<svg class="bar" viewBox="0 0 200 10" role="img" preserveAspectRatio="none" aria-label="${segmentsOf(outcomes)
    .map(({ outcome, count }) => `${count} ${OUTCOME_LABELS[outcome]}`)
    .join(', ')}">${segmentsOf(outcomes).map(
    ({ outcome, from, share }) => html`<rect class="o-${outcome}" x="${from * 200}" y="0" width="${share * 200}" height="10"></rect>`,
  )}</svg>`

function counts(title: string, rows: readonly (readonly [string, number])[]): Html {
  const most = Math.max(1, ...rows.map(([, count]) => count))
  if (rows.length === 0) return html``
  return html`<section><h2>${title}</h2><table class="counts"><tbody>${rows.map(
    ([label, count]) =>
      html`<tr class="${count === 0 ? 'none' : ''}"><th scope="row">${label}</th><td>${number(count)}</td><td><svg class="bar" viewBox="0 0 200 10" aria-hidden="true" preserveAspectRatio="none"><rect class="o-count" x="0" y="0" width="${(count / most) * 200}" height="10"></rect></svg></td></tr>`,
  )}</tbody></table></section>`
}
