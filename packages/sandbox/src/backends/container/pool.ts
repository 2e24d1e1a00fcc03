/** Pools items that are slow to make and can be reused, by one user at a time. Independent of containers. */

export type Pool<T> = ReturnType<typeof createPool<T>>

export interface PoolOptions<T> {
  readonly make: () => Promise<T>
  readonly destroy: (item: T) => Promise<void>
  /** An item may have died while it was idle. */
  readonly isAlive: (item: T) => boolean
  readonly maxAlive: number
  readonly maxIdle: number
  /** The maximum number made at the same time. */
  readonly maxMaking: number
}

export function createPool<T>({ make, destroy, isAlive, maxAlive, maxIdle, maxMaking }: PoolOptions<T>) {
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
    /** Returns an idle item or a new one; waits while `maxAlive` are in use. @throws the error of `make` */
    take: (): Promise<T> => {
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
    /** Returns an item to the pool. If it can't be reused, it is destroyed before this resolves. */
    give: async (item: T, isReusable: boolean): Promise<void> => {
      if (!alive.has(item)) return
      if (isReusable && !isClosed && isAlive(item) && (waiting.length > 0 || idle.length < maxIdle)) offer(item)
      else await end(item)
    },
    /** Destroys all items, including those in use. */
    close: async (): Promise<void> => {
      isClosed = true
      for (const { reject } of waiting.splice(0)) reject(new Error('the pool is closed'))
      await Promise.all(making)
      idle.length = 0
      await Promise.all([...alive].map(end))
    },
  }
}
