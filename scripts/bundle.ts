/**
 * Puts the command into few files, `packages/cli/dist/bundle`: most of a start was loading a thousand modules. Ours are in it, and of
 * others' what every turn needs; the rest is loaded when it is asked for, as before. The files it is made of stay beside it.
 */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputBundle, type OutputChunk, type Plugin, rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLI = join(ROOT, 'packages/cli')
const INTO = join(CLI, 'dist/bundle')

/** Packages of others that are in it. Their licenses go with them. */
const INLINED = ['@ai-sdk/openai-compatible', '@ai-sdk/provider', '@ai-sdk/provider-utils', '@workflow/serde', 'commander', 'diff']
INLINED.push('eventsource-parser', 'ipaddr.js', 'picocolors', 'unbash', 'yaml', 'zod')

/** Of earlier builds: what runs still may load them. */
const DAY = 86_400_000

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

/** A path, or a package that is inlined. */
function isInside(specifier: string): boolean {
  if (/^[./\0]/.test(specifier)) return true
  const name = packageOf(specifier)
  return name.startsWith('@mulligan/') || INLINED.includes(name)
}

const PLACES = '\0places'
/** Looked up once for each package: that costs as much as loading a module. */
const PLACES_CODE = `
const packages = new Map()
export const place = (name, path) => {
  if (!packages.has(name)) packages.set(name, name === 'mulligan' ? new URL('../index.js', import.meta.url) : import.meta.resolve(name))
  return new URL(path, packages.get(name)).href
}`

/** Files beside a module (descriptions, workers) are found from where the module was, not from the bundle. */
const places: Plugin = {
  name: 'places',
  resolveId: (id) => (id === PLACES ? id : undefined),
  load: (id) => (id === PLACES ? PLACES_CODE : undefined),
  transform(code, id) {
    const [, folder, path] = /\/packages\/([^/]+)\/dist\/(.*)$/.exec(id) ?? []
    if (folder === undefined || !code.includes('import.meta.url')) return undefined
    const name = folder === 'cli' ? 'mulligan' : `@mulligan/${folder}`
    return `import { place } from ${JSON.stringify(PLACES)}\n${code.replaceAll('import.meta.url', `place('${name}', './${path}')`)}`
  },
}

const READS = "readFileSync(new URL('description.md', here), 'utf8')"
/** What the tools say of themselves is in it too: two dozen files less to open at each start. */
const descriptions: Plugin = {
  name: 'descriptions',
  transform(code, id) {
    if (id.endsWith('/tools/dist/describe.js')) {
      if (!code.includes(READS)) throw new Error(`${id} does not read descriptions as this plugin knows it`)
      return code.replace(READS, 'here')
    }
    if (!code.includes('describe(import.meta.url')) return undefined
    const text = JSON.stringify(readFileSync(join(dirname(id), 'description.md'), 'utf8'))
    return code.replace('describe(import.meta.url', () => `describe(${text}`)
  },
}

/**
 * Node loads all of its `fetch` when `Headers` is first read, which takes a fifth of a start. The client of model servers reads it for
 * a record of texts; `patientFetch` needs none.
 */
const HEADERS: readonly (readonly [string, string])[] = [
  ['headers instanceof Headers', 'headers[Symbol.toStringTag] === "Headers"'],
  ['new Headers(normalizeHeaders(headers))', 'new Map(Object.entries(normalizeHeaders(headers)))'],
]
const lateFetch: Plugin = {
  name: 'late-fetch',
  transform(code, id) {
    if (!id.endsWith('/@ai-sdk/provider-utils/dist/index.js')) return undefined
    if (!HEADERS.every(([from]) => code.split(from).length === 2)) throw new Error(`${id} does not read Headers as this plugin knows it`)
    return HEADERS.reduce((text, [from, to]) => text.replace(from, to), code)
  },
}

/** Zod's messages in fifty languages are an eighth of what a start reads; ours are in one. */
const english: Plugin = {
  name: 'english',
  load: (id) => (/\/zod\/v4\/locales\/index\.js$/.test(id) ? `export { default as en } from './en.js'` : undefined),
}

/**
 * An `import` of a part of Node runs each of its getters: that of `node:fs` loads its promises, that of `node:process` opens the
 * standard streams. Taken out of the part itself, a name costs nothing but that name.
 */
const lateBuiltins: Plugin = {
  name: 'late-builtins',
  renderChunk: (code) =>
    code.replace(/^(?:\s*import\b[^;]*;)+/, (head) =>
      head.replace(
        /import ([^;{]*?),? ?(\{[^}]*\})? from "(node:[^"]+)";/g,
        (_, whole: string, names: string | undefined, part: string) => {
          const kept = [whole.replace('* as ', ''), names?.replaceAll(' as ', ': ')].filter(Boolean)
          return kept.map((one) => `const ${one} = globalThis.process.getBuiltinModule(${JSON.stringify(part)});`).join('')
        },
      ),
    ),
}

/** The texts of the licenses of what is inlined. @throws Error where one has none */
function licenses(): string {
  const texts = INLINED.toSorted().map((name) => {
    const [file] = globSync(`node_modules/${name}/LICEN{S,C}E*`, { cwd: ROOT })
    const { version, license } = JSON.parse(readFileSync(join(ROOT, `node_modules/${name}/package.json`), 'utf8')) as Record<string, string>
    if (file === undefined && license !== 'Apache-2.0') throw new Error(`node_modules/${name} has no license text`)
    return `## ${name} ${version}\n\n${file === undefined ? license : readFileSync(join(ROOT, file), 'utf8').trim()}\n`
  })
  return `# What is in these files besides Mulligan\n\n${texts.join('\n')}`
}

/** Names have the hash of their content, so a file that is there is the right one, and one that is being read is never written. */
function write(path: string, content: string): void {
  const file = join(INTO, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.${process.pid}`, content)
  renameSync(`${file}.${process.pid}`, file)
}

/**
 * What is loaded together becomes one file: a file costs about a millisecond, and a turn would load eighty. These are loaded one after
 * the other; each file has all that its module imports and that none before it has, so no two import each other. `parse` and `undo`
 * stand before what is large, because they need little of it.
 */
const STAGES = ['host/config/settings', 'host/data/store', 'cli/commands/parse/parse', 'cli/commands/undo', 'host/tools/open-tools']
STAGES.push('cli/commands/run', 'host/models/openai-compatible')
/** Characters of what may be in a file for every command: one that needs little of a stage must not load all of it. */
const SMALL = 8000

/** @returns the stage of each module that is in one */
function stagesOf(chunks: readonly OutputChunk[]): ReadonlyMap<string, string> {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const stages = new Map<string, string>()
  const seen = new Set<OutputChunk>()
  const below = (chunk: OutputChunk): readonly OutputChunk[] => chunk.imports.flatMap((file) => byFile.get(file) ?? [])
  const isSmall = (chunk: OutputChunk): boolean => seen.has(chunk) || (chunk.code.length < SMALL && below(chunk).every(isSmall))
  const put = (chunk: OutputChunk, stage: string, fits = (_: OutputChunk): boolean => true): void => {
    if (seen.has(chunk)) return
    if (fits(chunk)) {
      seen.add(chunk)
      for (const id of chunk.moduleIds) stages.set(id, stage)
    }
    for (const one of below(chunk)) put(one, stage, fits)
  }
  const chunkOf = (module: string): OutputChunk => {
    const found = chunks.find(({ moduleIds }) => moduleIds.includes(`${join(ROOT, 'packages', module.replace('/', '/dist/'))}.js`))
    if (!found) throw new Error(`the bundle has no ${module}: correct STAGES`)
    return found
  }
  for (const first of ['main', 'program']) put(chunkOf(`cli/${first}`), first)
  for (const module of STAGES) put(chunkOf(module), 'common', (chunk) => !chunk.isDynamicEntry && isSmall(chunk))
  for (const module of STAGES) put(chunkOf(module), basename(module))
  return stages
}

/** @param prune leaves nothing of earlier builds. @throws Error that says what could not be bundled */
export async function bundle({ prune = false } = {}): Promise<void> {
  const build = await rolldown({
    input: { main: join(CLI, 'dist/main.js') },
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    plugins: [descriptions, places, lateFetch, english, lateBuiltins],
    external: (id) => !isInside(id),
    logLevel: 'warn',
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  const format = { format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' } as const
  // Only what is in use counts, and that is known when it has been put into chunks.
  const stages = stagesOf((await build.generate(format)).output.filter((one) => one.type === 'chunk'))
  const { output } = await build.generate({
    ...format,
    comments: false,
    codeSplitting: { groups: [{ debugName: 'stages', name: (id) => stages.get(id) ?? null, includeDependenciesRecursively: false }] },
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
  })
  await build.close()
  const texts = new Map(
    (output as OutputBundle[string][]).map((one) => [one.fileName, one.type === 'chunk' ? one.code : String(one.source)]),
  )
  texts.set('THIRD_PARTY.md', licenses())
  for (const [path, text] of texts) if (path !== 'main.js' && !existsSync(join(INTO, path))) write(path, text)
  // Last, because with it the bundle is in force.
  write('main.js', texts.get('main.js') as string)
  // What Node has kept of earlier bundles.
  rmSync(join(INTO, '.cache'), { recursive: true, force: true, maxRetries: 3 })
  for (const name of globSync('*', { cwd: INTO }))
    if (!texts.has(name) && (prune || Date.now() - statSync(join(INTO, name)).mtimeMs > DAY)) rmSync(join(INTO, name))
}
