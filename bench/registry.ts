/** The benchmarks by name. Each is loaded on demand. */
import type { Table } from './table.ts'

export type Bench = () => Promise<Table>

export const BENCHES: Readonly<Record<string, () => Promise<{ readonly bench: Bench }>>> = {
  executor: () => import('./executor.ts'),
  step: () => import('./step.ts'),
  'step-peers': () => import('./step-peers.ts'),
  growth: () => import('./growth.ts'),
  start: () => import('./start.ts'),
  chat: () => import('./chat.ts'),
  'start-peers': () => import('./start-peers.ts'),
  'start-mcp': () => import('./start-mcp.ts'),
  repair: () => import('./repair.ts'),
  'repair-size': () => import('./repair-size.ts'),
  'repair-scan': () => import('./repair-scan.ts'),
  files: () => import('./files.ts'),
  nearest: () => import('./nearest.ts'),
  memory: () => import('./memory.ts'),
  'session-memory': () => import('./session-memory.ts'),
  sandbox: () => import('./sandbox.ts'),
  'mcp-proxy': () => import('./mcp-proxy/bench.ts'),
  notes: () => import('./notes.ts'),
  questions: () => import('./questions.ts'),
  server: () => import('./server/bench.ts'),
  kills: () => import('./kills.ts'),
}
