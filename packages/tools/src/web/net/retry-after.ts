/** `Retry-After`, in seconds or as a date. */
export function retryAfter(header: (name: string) => string, now: number = Date.now()): { readonly retryAfter?: number } {
  const value = header('retry-after').trim()
  const seconds = /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000
  return Number.isFinite(seconds) ? { retryAfter: Math.max(0, seconds) } : {}
}
