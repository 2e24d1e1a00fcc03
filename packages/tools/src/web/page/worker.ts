/** The worker thread used by `render.ts`. */
import { parentPort, workerData } from 'node:worker_threads'
import { plainText, titleIn } from './plain-text.ts'
import type { Work } from './render.ts'

const { html, url, format, isBare } = workerData as Work
// Loaded only when needed, because the HTML parser takes a while to load.
const readable = isBare ? undefined : (await import('./readable.ts')).readable
parentPort?.postMessage(readable?.(html, url, format) ?? { title: titleIn(html), text: plainText(html) })
