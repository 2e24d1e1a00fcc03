/** Measures the size of an import in a web page: bundled, minified and gzipped. */
import { gzipSync } from 'node:zlib'
import { build, type Rolldown } from 'vite'

const ENTRY = 'virtual:entry'

/** @param root the folder with the `node_modules`. @param external packages that are not counted */
export async function bundleSize(root: string, code: string, external: readonly string[] = []): Promise<number> {
  const output = await build({
    root,
    configFile: false,
    logLevel: 'error',
    plugins: [
      {
        name: 'entry',
        enforce: 'pre',
        resolveId: (id) => (id.endsWith(ENTRY) ? `${root}/entry.js` : null),
        load: (id) => (id === `${root}/entry.js` ? code : null),
      },
    ],
    build: {
      write: false,
      minify: true,
      target: 'es2024',
      rolldownOptions: { external: [...external], output: { minify: true } },
      lib: { entry: ENTRY, formats: ['es'] },
    },
  })
  const [one] = output as Rolldown.RolldownOutput[]
  return gzipSync((one?.output[0] as Rolldown.OutputChunk).code).length
}
