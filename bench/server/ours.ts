/** `mulligan serve` in a process of its own. */
import { openStore } from '@mulligan/agent'
import { serve } from '../../packages/server/src/serve.ts'
import { tellUsage } from './usage.ts'

const { store, home, token } = JSON.parse(process.env['BENCH_SERVER'] ?? '') as Record<'store' | 'home' | 'token', string>
const { url } = await serve({ env: { HOME: home, PATH: process.env['PATH'] ?? '' }, port: 0, token, store: await openStore(store) })
tellUsage(url)
