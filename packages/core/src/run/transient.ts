/** Handles transient faults: full-jitter backoff, and a circuit breaker per service. */

/** Maximum executions of one call, including the first. */
export const MAX_ATTEMPTS = 4
/** Base of the backoff, in milliseconds. */
const BASE = 500
const CAP = 8000
/** Number of consecutive transient faults that open a service's breaker, and how long it stays open, in milliseconds. */
const OPEN_AFTER = 5
const OPEN_FOR = 30_000

/**
 * Returns the milliseconds to wait before attempt `next` (2, 3, …): full jitter, uniform in [0, min(cap, base·2^(n−2))], but never
 * less than the service asked for. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function backoff(next: number, random: number, retryAfter = 0): number {
  const ceiling = Math.min(CAP, BASE * 2 ** (next - 2))
  return Math.max(random * ceiling, retryAfter * 1000)
}

interface Circuit {
  faults: number
  openUntil: number
  probing: boolean
}

/** The state of every service, shared between turns: a service that is down is down for all. */
export interface Breakers {
  /** Returns the milliseconds until the service may be tried again; 0 if it may be tried now (one probe at a time after an outage). */
  readonly wait: (service: string, now: number) => number
  readonly success: (service: string) => void
  readonly fault: (service: string, now: number) => void
  /** Records an abandoned call. A probe that timed out is a fault; one that was aborted says nothing, so the next call may probe. */
  readonly cut: (service: string, now: number, how: 'timeout' | 'aborted') => void
}

/**
 * Creates circuit breakers. They open on faults of the service, never on the model's mistakes, fail fast while open, and then let one
 * probe through.
 */
export function createBreakers(): Breakers {
  const circuits = new Map<string, Circuit>()
  function fault(service: string, now: number): void {
    const faults = (circuits.get(service)?.faults ?? 0) + 1
    circuits.set(service, { faults, openUntil: now + OPEN_FOR, probing: false })
  }
  return {
    wait(service, now) {
      const circuit = circuits.get(service)
      if (!circuit || circuit.faults < OPEN_AFTER) return 0
      if (now < circuit.openUntil) return circuit.openUntil - now
      if (circuit.probing) return OPEN_FOR
      circuit.probing = true
      return 0
    },
    success: (service) => void circuits.delete(service),
    fault,
    cut(service, now, how) {
      const circuit = circuits.get(service)
      if (!circuit?.probing) return
      if (how === 'timeout') fault(service, now)
      else circuit.probing = false
    },
  }
}
