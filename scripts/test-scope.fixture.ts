/** The extent of the tests. `npm test` draws few cases; `npm run test:all` draws more, and repeats tests on other backends and in other places. */

/** True in `npm run test:all`. */
export const isAll = process.env['TESTS'] === 'all'

/** The number of random cases to draw. `SAMPLES=10` draws ten times as many. */
export const samples = (few: number, many: number): number => Math.ceil((isAll ? many : few) * Number(process.env['SAMPLES'] ?? 1))
