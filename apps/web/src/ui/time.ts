/** Formats times for people. Pure, except for the locale and time zone. */
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

export const fullTime = (at: number): string => FULL.format(at)

/** The time if it was today, otherwise the day. */
export function shortTime(at: number, now = Date.now()): string {
  const [date, today] = [new Date(at), new Date(now)]
  if (date.toDateString() === today.toDateString()) return TIME.format(date)
  return date.getFullYear() === today.getFullYear() ? DAY.format(date) : `${DAY.format(date)} ${date.getFullYear()}`
}

/** `just now`, `5 min`, `3 h`, `2 d` since a time. */
export function since(at: number, now = Date.now()): string {
  const minutes = Math.floor((now - at) / 60_000)
  if (minutes < 1) return 'just now'
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`
}

/** Groups by day: Today, Yesterday, Earlier this week, then the month. */
export function dayGroup(at: number, now = Date.now()): string {
  const start = new Date(now).setHours(0, 0, 0, 0)
  if (at >= start) return 'Today'
  if (at >= start - 86_400_000) return 'Yesterday'
  if (at >= start - 6 * 86_400_000) return 'Earlier this week'
  return new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' }).format(at)
}

export const tokens = (count: number): string => (count < 1000 ? String(count) : `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`)
