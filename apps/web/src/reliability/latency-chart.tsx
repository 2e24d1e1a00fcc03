/** Latency percentiles over time, drawn by uPlot in the colours of the page. */
import { duration } from '@mulligan/server/present'
import type { Bucket } from '@mulligan/server/reliability'
import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import { fullTime } from '../ui/time.ts'
import 'uplot/dist/uPlot.min.css'

const HEIGHT = 180
const LINES = [
  ['p50', '--ok'],
  ['p90', '--repaired'],
  ['p99', '--failed'],
] as const

export function LatencyChart({ series, bucketMs }: { readonly series: readonly Bucket[]; readonly bucketMs: number }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (!element) return
    const draw = (): uPlot => new uPlot(options(element, spanOf(series, bucketMs)), dataOf(series, bucketMs), element)
    let chart = draw()
    const again = (): void => {
      chart.destroy()
      chart = draw()
    }
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    // Canvas colours are fixed when it is drawn.
    const themed = new MutationObserver(again)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', again)
    return () => {
      resized.disconnect()
      themed.disconnect()
      scheme.removeEventListener('change', again)
      chart.destroy()
    }
  }, [series, bucketMs])
  return <div className="latency" ref={box} role="img" aria-label="Percentiles of the time of a call; the tables below have the totals" />
}

/** With a gap where a bucket has no calls. */
function dataOf(series: readonly Bucket[], bucketMs: number): uPlot.AlignedData {
  const times: number[] = []
  const values: (number | null)[][] = LINES.map(() => [])
  for (const [index, { at, latency }] of series.entries()) {
    const before = series[index - 1]?.at
    if (before !== undefined && at - before > bucketMs) {
      times.push((before + bucketMs) / 1000)
      for (const line of values) line.push(null)
    }
    times.push(at / 1000)
    for (const [line, [name]] of LINES.entries()) values[line]?.push(latency?.[name] ?? null)
  }
  return [times, ...values]
}

const POWERS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000]

/** The time axis in seconds, with a bucket more on either side. uPlot shows years around a single one. */
const spanOf = (series: readonly Bucket[], bucketMs: number): readonly [from: number, to: number] => [
  ((series[0]?.at ?? 0) - bucketMs) / 1000,
  ((series.at(-1)?.at ?? 0) + bucketMs) / 1000,
]

function options(element: HTMLElement, [from, to]: ReturnType<typeof spanOf>): uPlot.Options {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const probe = document.createElement('span')
  element.append(probe)
  const resolved = (name: string): string => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
  const [soft, line] = [resolved('--soft'), resolved('--line')]
  const lines = LINES.map(([label, name]) => ({
    label,
    stroke: resolved(name) || colour(name),
    width: 2,
    points: { show: true, size: 6 },
    value: (_: uPlot, ms: number | null) => (ms === null ? '–' : duration(ms)),
  }))
  probe.remove()
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { show: false }, font: `12px ${style.fontFamily}` }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    // The last label of the time axis is wider than the space beside its line.
    padding: [16, 32, 0, 0],
    cursor: { y: false },
    scales: {
      x: { range: () => [from, to] },
      y: { distr: 3, range: (_, least, most) => [Math.max(0.1, least / 2), Math.max(1, most * 2)] },
    },
    axes: [
      axis,
      {
        ...axis,
        size: 64,
        splits: (_, __, least, most) => POWERS.filter((ms) => ms >= least && ms <= most),
        values: (_, marks) => marks.map((ms) => duration(ms)),
      },
    ],
    series: [{ label: '', value: (_: uPlot, at: number | null) => (at === null ? '' : fullTime(at * 1000)) }, ...lines],
  }
}
