/**
 * Draws the same random cases in each run, so that a commit always passes or always fails. `SEED` draws others: an
 * integer, or `random`.
 */
import fc from 'fast-check'

const seed = process.env['SEED'] ?? '1'
if (seed !== 'random' && !/^-?\d+$/.test(seed)) throw new Error(`SEED must be an integer or "random", but is ${JSON.stringify(seed)}`)
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })
