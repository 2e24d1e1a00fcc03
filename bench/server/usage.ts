/** What a program of this benchmark tells about itself, over IPC: its address once, and its CPU time and memory when asked. */

export interface Usage {
  /** Milliseconds. */
  readonly cpu: number
  /** Bytes. */
  readonly memory: number
}

/** Tells the address, answers each message with the usage, and ends with the parent. */
export function tellUsage(url: string): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpu: (user + system) / 1000, memory: process.memoryUsage.rss() } satisfies Usage)
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ url })
}
