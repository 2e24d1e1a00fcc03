/** Resource limits of commands. */

export interface Limits {
  /** In bytes, for the whole process tree. */
  readonly memory: number
  /** Number of CPU cores. */
  readonly cpus: number
  /** Maximum number of processes and threads at the same time. */
  readonly processes: number
  /** Default timeout of a command, in seconds. */
  readonly timeout: number
  /** Bytes kept of each stream, head and tail. */
  readonly output: number
  /** Total bytes of both streams after which the command is ended. Until then, bytes that are not kept are counted and dropped. */
  readonly outputStop: number
  /** Bytes that one command may add to the disk. */
  readonly disk: number
}

const MB = 1024 * 1024

export const DEFAULT_SANDBOX_LIMITS: Limits = {
  memory: 2048 * MB,
  cpus: 1,
  processes: 256,
  timeout: 120,
  output: 200_000,
  outputStop: 1_000_000_000,
  disk: 8192 * MB,
}

/** Limits for `sandbox.profile: strict`, which does not mount toolchains either. */
export const STRICT_LIMITS: Limits = { ...DEFAULT_SANDBOX_LIMITS, memory: 512 * MB, cpus: 0.5, timeout: 30, disk: 512 * MB }

/** The maximum timeout of a command, in seconds. */
export const MAX_TIMEOUT = 600

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: MB, g: 1024 * MB, t: 1024 * 1024 * MB }

/**
 * Converts a size to bytes.
 *
 * @example parseSize('512m') // 536870912
 * @example parseSize('1.5 GB') // 1610612736
 * @throws RangeError that lists the accepted formats
 */
export function parseSize(size: string | number): number {
  const [, digits = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(String(size)) ?? []
  const bytes = digits === '' ? Number.NaN : Math.round(Number(digits) * (UNITS[unit.toLowerCase()] as number))
  if (!Number.isSafeInteger(bytes) || bytes === 0) throw new RangeError(`"${size}" is not a size: use 512m, 2g, or a number of bytes`)
  return bytes
}

const MOST = Number.MAX_SAFE_INTEGER

/** Minimum, maximum and unit. A shell does not start with less than the minimum. */
const RANGES: Readonly<Record<keyof Limits, readonly [from: number, to: number, unit: string]>> = {
  memory: [16 * MB, MOST, 'bytes'],
  cpus: [0.01, 1024, 'cores'],
  processes: [4, 4_194_304, 'processes'],
  timeout: [0.001, MAX_TIMEOUT, 'seconds'],
  output: [1, MOST, 'bytes'],
  outputStop: [1, MOST, 'bytes'],
  disk: [MB, MOST, 'bytes'],
}

/**
 * Returns the limits of a profile, overridden by `over`.
 * @throws RangeError that names the limit, its value and the allowed range
 */
export function limitsOf(profile: 'default' | 'strict', over: Partial<Limits> = {}): Limits {
  const given = Object.entries(over).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) checkLimit(name, value)
  return { ...(profile === 'strict' ? STRICT_LIMITS : DEFAULT_SANDBOX_LIMITS), ...Object.fromEntries(given) }
}

/** @throws RangeError */
export function checkLimit(name: string, value: number): void {
  const range = Object.hasOwn(RANGES, name) ? RANGES[name as keyof Limits] : undefined
  if (!range) throw new RangeError(`there is no limit "${name}"; there are ${Object.keys(RANGES).join(', ')}`)
  const [from, to, unit] = range
  const isWhole = unit === 'bytes' || unit === 'processes'
  if (typeof value === 'number' && value >= from && value <= to && (!isWhole || Number.isInteger(value))) return
  if (unit === 'bytes') throw new RangeError(`the limit ${name} is ${sizeText(value)}; it may be at least ${sizeText(from)}`)
  const says = typeof value === 'number' && !Number.isNaN(value) ? String(value) : 'not a number'
  throw new RangeError(`the limit ${name} is ${says}; it may be ${from} to ${to} ${unit}${isWhole ? ', a whole number' : ''}`)
}

/**
 * Formats bytes for {@link parseSize}, in the largest unit without a fraction.
 *
 * @example sizeText(536870912) // '512m'
 */
export function sizeText(bytes: number): string {
  const units = ['', 'k', 'm', 'g', 't']
  const fitting = units.findLastIndex((_, power) => bytes >= 1024 ** power && bytes % 1024 ** power === 0)
  // Values that are not numbers are shown as they are.
  return fitting < 1 ? `${bytes}` : `${bytes / 1024 ** fitting}${units[fitting]}`
}
