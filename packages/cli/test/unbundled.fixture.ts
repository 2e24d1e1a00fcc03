/** Runs the command from its unbundled compiled files, for tests of which modules are loaded. A bundle would not show that. */
const { run } = (await import(new URL('../dist/main.js', import.meta.url).href)) as typeof import('../src/main.ts')
await run(process.argv.slice(2))

export {}
