/** What a command may take. */

export interface Limits {
  /** Bytes, of the whole process tree. */
  readonly memory: number
  /** Cores. */
  readonly cpus: number
  /** Processes and threads at once. */
  readonly processes: number
  /** Seconds a command may take where it does not say. */
  readonly timeout: number
  /** Bytes kept of each stream, head and tail. */
  readonly output: number
  /** Bytes of both streams after which the command is ended: until then, what is not kept is counted and dropped. */
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

/** `sandbox.profile: strict`. It mounts no toolchains either. */
export const STRICT_LIMITS: Limits = { ...DEFAULT_SANDBOX_LIMITS, memory: 512 * MB, cpus: 0.5, timeout: 30, disk: 512 * MB }

/** Seconds: no command may ask for more. */
export const MAX_TIMEOUT = 600

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: MB, g: 1024 * MB, t: 1024 * 1024 * MB }

/**
 * Bytes.
 *
 * @example parseSize('512m') // 536870912
 * @example parseSize('1.5 GB') // 1610612736
 * @throws RangeError with the forms that are understood
 */
export function parseSize(size: string | number): number {
  const [, digits = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*$/i.exec(String(size)) ?? []
  const bytes = digits === '' ? Number.NaN : Math.round(Number(digits) * (UNITS[unit.toLowerCase()] as number))
  if (!Number.isSafeInteger(bytes) || bytes === 0) throw new RangeError(`"${size}" is not a size: say it as 512m, 2g, or in bytes`)
  return bytes
}

interface Range {
  readonly from: number
  readonly to: number
  readonly unit: string
  readonly isWhole: boolean
}

const bytes = (from: number): Range => ({ from, to: Number.MAX_SAFE_INTEGER, unit: 'bytes', isWhole: true })

/** Below these a shell does not start. */
const RANGES: Readonly<Record<keyof Limits, Range>> = {
  memory: bytes(16 * MB),
  cpus: { from: 0.01, to: 1024, unit: 'cores', isWhole: false },
  processes: { from: 4, to: 4_194_304, unit: 'processes', isWhole: true },
  timeout: { from: 0.001, to: MAX_TIMEOUT, unit: 'seconds', isWhole: false },
  output: bytes(1),
  outputStop: bytes(1),
  disk: bytes(MB),
}

/**
 * The limits of a profile, with `over` laid over them.
 * @throws RangeError that names the limit, what it was and what it may be
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
  const { from, to, unit, isWhole } = range
  if (typeof value === 'number' && value >= from && value <= to && (!isWhole || Number.isInteger(value))) return
  if (unit === 'bytes') throw new RangeError(`the limit ${name} is ${sizeText(value)}; it may be at least ${sizeText(from)}`)
  const says = typeof value === 'number' && !Number.isNaN(value) ? String(value) : 'not a number'
  throw new RangeError(`the limit ${name} is ${says}; it may be ${from} to ${to} ${unit}${isWhole ? ', a whole number' : ''}`)
}

/**
 * Bytes as {@link parseSize} reads them, in the largest unit without a fraction.
 *
 * @example sizeText(536870912) // '512m'
 */
export function sizeText(bytes: number): string {
  const units = ['', 'k', 'm', 'g', 't']
  let at = 0
  let left = bytes
  while (left >= 1024 && left % 1024 === 0 && at < units.length - 1) {
    left /= 1024
    at++
  }
  return `${left}${units[at]}`
}
