/** How much the tests do. `npm test` draws few cases; `npm run test:all` draws more, and runs what is the same on another backend or in another place. */

/** Set by `npm run test:all`. */
export const isAll = process.env['TESTS'] === 'all'

/** Random cases to draw. `SAMPLES=10` draws ten times as many. */
export const samples = (few: number, many: number): number => Math.ceil((isAll ? many : few) * Number(process.env['SAMPLES'] ?? 1))
