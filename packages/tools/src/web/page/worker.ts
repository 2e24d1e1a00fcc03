/** The worker's side of `render.ts`. */
import { parentPort, workerData } from 'node:worker_threads'
import { readable } from './readable.ts'

const { html, url, format } = workerData as { readonly html: string; readonly url: string; readonly format: 'markdown' | 'text' }
parentPort?.postMessage(readable(html, url, format))
