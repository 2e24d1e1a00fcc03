/** The worker's side of `render.ts`. */
import { parentPort, workerData } from 'node:worker_threads'
import { plainText, titleIn } from './plain-text.ts'
import type { Work } from './render.ts'

const { html, url, format, isBare } = workerData as Work
// What makes a tree takes a while to load.
const readable = isBare ? undefined : (await import('./readable.ts')).readable
parentPort?.postMessage(readable?.(html, url, format) ?? { title: titleIn(html), text: plainText(html) })
