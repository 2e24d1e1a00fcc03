/** What the API returns. Times are milliseconds since 1970. */

/** `waiting`: the last turn is parked until a person answers. */
export type SessionStatus = 'idle' | 'running' | 'waiting'

export interface Session {
  readonly id: string
  readonly title: string
  readonly cwd: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly turns: number
  readonly model?: string
  readonly status: SessionStatus
}

export interface Turn {
  readonly id: string
  readonly prompt: string
  readonly status: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly answer?: string
}

export interface Approval {
  readonly id: string
  readonly sessionId: string
  readonly turnId: string
  readonly callId: string
  readonly tool: string
  readonly effect: string
  readonly target: string
  readonly forced: boolean
  readonly agent?: string
  readonly input: Readonly<Record<string, unknown>>
  readonly diff?: string
  readonly asks: readonly { readonly target: string; readonly reason: string }[]
  readonly offers: {
    readonly session?: { readonly text: string }
    readonly always?: { readonly file: string; readonly rules: readonly unknown[] }
  }
  readonly hash: string
  readonly createdAt: number
  readonly status: 'pending' | 'answered' | 'expired'
}
