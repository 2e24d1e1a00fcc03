/**
 * The time axis of a turn, from 0 to 1. Long waits, such as an approval overnight, are shortened, so that the work around them can still be
 * seen. Pure.
 */

export interface Span {
  readonly from: number
  readonly to: number
}

export interface Scale {
  /** The position of a time, 0 to 1. */
  readonly at: (time: number) => number
  /** The shortened periods. */
  readonly breaks: readonly Span[]
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
}

/** A wait is shortened if it takes longer than this, and more than this share of the rest. */
const LONG = 5_000
const SHARE = 0.5
/** The share of the axis that a shortened wait gets. */
const SHORTENED = 0.06

/** @param waits periods in which nothing but waiting happened; in order, without overlaps */
export function createScale({ from, to }: Span, waits: readonly Span[]): Scale {
  const whole = Math.max(1, to - from)
  const idle = waits.reduce((sum, wait) => sum + (wait.to - wait.from), 0)
  const active = Math.max(1, whole - idle)
  const breaks = waits.filter((wait) => wait.to - wait.from > Math.max(LONG, SHARE * active))
  const cut = breaks.reduce((sum, one) => sum + (one.to - one.from), 0)
  const shown = Math.max(1, whole - cut)
  // In units of time: each break is as wide as SHORTENED of the whole axis.
  const wide = breaks.length === 0 ? 0 : (shown * SHORTENED) / (1 - Math.min(0.6, SHORTENED * breaks.length))
  const total = shown + wide * breaks.length
  const at = (time: number): number => {
    let passed = Math.min(Math.max(time, from), to) - from
    for (const one of breaks) {
      if (time <= one.from) break
      const within = Math.min(time, one.to) - one.from
      passed += (within / (one.to - one.from)) * wide - within
    }
    return passed / total
  }
  return { at, breaks, ticks: ticksOf({ from, to }, shown, breaks, at) }
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000,
]
const MOST_TICKS = 8

function ticksOf({ from, to }: Span, shown: number, breaks: readonly Span[], at: Scale['at']): Scale['ticks'] {
  const step = STEPS.find((one) => shown / one <= MOST_TICKS) ?? Math.ceil(shown / MOST_TICKS)
  const ticks: { at: number; label: string }[] = []
  for (let time = from; time <= to && ticks.length <= 4 * MOST_TICKS; time += step) {
    const inside = breaks.find((one) => time > one.from && time < one.to)
    // Ticks inside a break would be on top of each other.
    if (inside) time += Math.floor((inside.to - time) / step) * step
    else ticks.push({ at: at(time), label: tickLabel(time - from, step) })
  }
  return ticks
}

/** @param step the distance of the labels: hours are shown with seconds if they would be the same otherwise */
export function tickLabel(ms: number, step = 60_000): string {
  if (ms === 0) return '0'
  if (ms < 1000) return `${ms} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.round((ms % 60_000) / 1000)]
  const two = (value: number): string => String(value).padStart(2, '0')
  if (hours === 0) return `${minutes}:${two(seconds)}`
  return step < 60_000 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${hours}:${two(minutes)} h`
}
