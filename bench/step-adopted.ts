/**
 * Measures an AI SDK app with and without `mulligan(tools)` alternately. Each kind of app has several processes of its own, because a
 * process runs the same code at another speed depending on what it has run before.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { runGenerateText, runStreamText } from './script.ts'
import { joined, type Measured, measured, PIECES, perStep, STEPS } from './step-rivals.ts'

export const ADOPTED = ', adopted'
const PROCESSES = 4
const KINDS = {
  generateText: { run: runGenerateText, rounds: { warmUp: 600, rounds: 300 } },
  streamText: { run: runStreamText, rounds: { warmUp: 150, rounds: 75 } },
}

export const measuredAdopted = (): Measured =>
  joined(
    Object.keys(KINDS).flatMap((kind) =>
      Array.from({ length: PROCESSES }, () => {
        const stdout = execFileSync(process.execPath, [fileURLToPath(import.meta.url), kind], { encoding: 'utf8', maxBuffer: 16_000_000 })
        return JSON.parse(stdout) as Measured
      }),
    ),
  )

if (import.meta.main) {
  const kind = process.argv[2] as keyof typeof KINDS
  const name = `AI SDK \`${kind}\`, with text`
  const { run, rounds } = KINDS[kind]
  const rivals = {
    [name]: perStep((model) => run(model, STEPS), PIECES),
    [name + ADOPTED]: perStep((model) => run(model, STEPS, true), PIECES),
  }
  console.log(JSON.stringify(await measured(rivals, rounds)))
}
