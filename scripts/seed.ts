/**
 * Draws the same random cases in each run, so that a commit passes or fails whenever and wherever it is tested. `SEED` draws others: an
 * integer, or `random`.
 */
import fc from 'fast-check'

const seed = process.env['SEED'] ?? '1'
if (seed !== 'random' && !/^-?\d+$/.test(seed)) throw new Error(`SEED is an integer or "random", not ${JSON.stringify(seed)}`)
if (seed !== 'random') fc.configureGlobal({ seed: Number(seed) })
