/** Things that are slow to make and can be used again, one user at a time. Knows nothing of containers. */

export interface Pool<T> {
  /** One that is idle, or a new one; waits while `maxAlive` are in use. @throws what `make` throws */
  readonly take: () => Promise<T>
  /** For the next one, or, where it can't be used again, to be destroyed by whoever had it. */
  readonly give: (item: T, isReusable: boolean) => Promise<void>
  /** Destroys all, also those in use. */
  readonly close: () => Promise<void>
}

export interface PoolOptions<T> {
  readonly make: () => Promise<T>
  readonly destroy: (item: T) => Promise<void>
  /** It may have died while nobody used it. */
  readonly isAlive: (item: T) => boolean
  readonly maxAlive: number
  readonly maxIdle: number
  /** At once. */
  readonly maxMaking: number
}

export function createPool<T>({ make, destroy, isAlive, maxAlive, maxIdle, maxMaking }: PoolOptions<T>): Pool<T> {
  const idle: T[] = []
  const alive = new Set<T>()
  const waiting: PromiseWithResolvers<T>[] = []
  const making = new Set<Promise<void>>()
  let isClosed = false

  const end = async (item: T) => {
    alive.delete(item)
    await destroy(item).finally(refill)
  }

  const makeOne = async () => {
    try {
      const item = await make()
      alive.add(item)
      offer(item)
    } catch (error) {
      waiting.shift()?.reject(error)
    }
  }

  function offer(item: T): void {
    const next = isClosed ? undefined : waiting.shift()
    if (next) next.resolve(item)
    else idle.push(item)
  }

  function refill(): void {
    while (!isClosed && waiting.length > making.size && making.size < maxMaking && alive.size + making.size < maxAlive) {
      const one = makeOne().finally(() => {
        making.delete(one)
        refill()
      })
      making.add(one)
    }
  }

  return {
    take: () => {
      if (isClosed) return Promise.reject(new Error('the pool is closed'))
      for (let item = idle.pop(); item !== undefined; item = idle.pop()) {
        if (isAlive(item)) return Promise.resolve(item)
        void end(item).catch(() => {})
      }
      const place = Promise.withResolvers<T>()
      waiting.push(place)
      refill()
      return place.promise
    },
    give: async (item, isReusable) => {
      if (!alive.has(item)) return
      if (isReusable && !isClosed && isAlive(item) && (waiting.length > 0 || idle.length < maxIdle)) offer(item)
      else await end(item)
    },
    close: async () => {
      isClosed = true
      for (const { reject } of waiting.splice(0)) reject(new Error('the pool is closed'))
      await Promise.all(making)
      idle.length = 0
      await Promise.all([...alive].map(end))
    },
  }
}
