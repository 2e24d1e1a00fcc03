/**
 * Bundles the command into a few files in `packages/cli/dist/bundle`, because loading a thousand modules takes most of the start. The
 * bundle contains our modules, and the dependencies that every turn needs; the others are loaded on demand. The unbundled files stay.
 */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type OutputBundle, type OutputChunk, type Plugin, rolldown } from 'rolldown'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLI = join(ROOT, 'packages/cli')
const INTO = join(CLI, 'dist/bundle')

/** Dependencies in the bundle. Their licenses are included. */
const INLINED = ['@ai-sdk/openai-compatible', '@ai-sdk/provider', '@ai-sdk/provider-utils', '@workflow/serde', 'commander', 'diff']
INLINED.push('eventsource-parser', 'ipaddr.js', 'jsonc-parser', 'picocolors', 'unbash', 'yaml', 'zod')

/** Node modules that take up to 3 ms to load and that the start does not need. */
const LATE = ['node:child_process', 'node:crypto', 'node:dns', 'node:dns/promises', 'node:readline', 'node:readline/promises']
LATE.push('node:stream/consumers', 'node:timers/promises', 'node:worker_threads', 'node:zlib')

/** Milliseconds for which files of earlier builds are kept, because a running process may still load them. */
const DAY = 86_400_000

const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

/** A path, an inlined package, or a module of {@link onFirstUse}. */
function isInside(specifier: string): boolean {
  if (/^[./\0]/.test(specifier) || specifier === 'late' || LATE.includes(specifier)) return true
  const name = packageOf(specifier)
  // Optional to install.
  if (name === '@mulligan/assistant') return false
  return name.startsWith('@mulligan/') || INLINED.includes(name)
}

const PLACES = '\0places'
/** Memoized, because a lookup takes as long as loading a module. */
const PLACES_CODE = `
const packages = new Map()
export const place = (name, path) => {
  if (!packages.has(name)) packages.set(name, name === 'mulligan' ? new URL('../index.js', import.meta.url) : import.meta.resolve(name))
  return new URL(path, packages.get(name)).href
}`

/** Files next to a module (descriptions, workers) are resolved from the module's original location, not from the bundle. */
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
/** Inlines the descriptions of the tools, which saves opening two dozen files at each start. */
const descriptions: Plugin = {
  name: 'descriptions',
  transform(code, id) {
    if (id.endsWith('/tools/dist/describe.js')) {
      if (!code.includes(READS)) throw new Error(`${id} does not read descriptions in the way that this plugin expects`)
      return code.replace(READS, 'here')
    }
    if (!code.includes('describe(import.meta.url')) return undefined
    const text = JSON.stringify(readFileSync(join(dirname(id), 'description.md'), 'utf8'))
    return code.replace('describe(import.meta.url', () => `describe(${text}`)
  },
}

/**
 * Inlines the JSON schemas of the tools, and creates their Zod schemas when a call is checked: creating and converting them takes a tenth
 * of the start.
 */
const schemas: Plugin = {
  name: 'schemas',
  async transform(code, id) {
    const [, name] = /\/tools\/dist\/\w+\/(\w+)\/tool\.js$/.exec(id) ?? []
    const tool = name === undefined ? undefined : (await tools()).find((one) => one.name === name)
    if (!tool) return undefined
    const [definition, schema] = /^const input = ([\s\S]*?);$/m.exec(code) ?? []
    if (definition === undefined) throw new Error(`${id} does not define its input in the way that this plugin expects`)
    const late = `{ get '~standard'() { return (zodSchema ??= ${schema})['~standard'] } }`
    return code.replace(
      definition,
      () => `let zodSchema; const input = { schema: ${late}, jsonSchema: ${JSON.stringify(tool.inputSchema)} };`,
    )
  },
}

/** The tools as built, with the options of a run. */
async function tools(): Promise<readonly { readonly name: string; readonly inputSchema: object }[]> {
  const { createWorkspace, fileTools, gitTools, shellTools, thinkTools, webTools } = await import('@mulligan/tools')
  const workspace = createWorkspace(ROOT)
  const shell = shellTools({ workspace, sandbox: () => Promise.reject(new Error('not needed')), layers: true })
  return [...fileTools(workspace), ...gitTools(workspace), ...shell.tools, ...thinkTools(), ...webTools()]
}

/**
 * Node loads its whole `fetch` when `Headers` is first read, which takes a fifth of the start. The client of model servers only reads it to
 * create a record of texts, and `patientFetch` does not need it.
 */
const HEADERS: readonly (readonly [string, string])[] = [
  ['headers instanceof Headers', 'headers[Symbol.toStringTag] === "Headers"'],
  ['new Headers(normalizeHeaders(headers))', 'new Map(Object.entries(normalizeHeaders(headers)))'],
]
const lateFetch: Plugin = {
  name: 'late-fetch',
  transform(code, id) {
    if (!id.endsWith('/@ai-sdk/provider-utils/dist/index.js')) return undefined
    if (!HEADERS.every(([from]) => code.split(from).length === 2))
      throw new Error(`${id} does not read Headers in the way that this plugin expects`)
    return HEADERS.reduce((text, [from, to]) => text.replace(from, to), code)
  },
}

/** Zod's messages in fifty languages are an eighth of what is read at the start; only one is used. */
const english: Plugin = {
  name: 'english',
  load: (id) => (/\/zod\/v4\/locales\/index\.js$/.test(id) ? `export { default as en } from './en.js'` : undefined),
}

/**
 * An `import` of a Node module runs all of its getters: that of `node:fs` loads `fs/promises`, that of `node:process` opens the standard
 * streams. Reading a name from the module object runs only the getter of that name.
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

const LATE_CODE = `
export const late = (id, name) => {
  const load = () => name === undefined ? process.getBuiltinModule(id) : process.getBuiltinModule(id)[name]
  return new Proxy(function () {}, {
    get: (_, key) => load()[key],
    apply: (_, self, given) => load()(...given),
    construct: (_, given) => new (load())(...given),
  })
}`
/** Loads a Node module when one of its exports is first called, constructed or read. */
const onFirstUse: Plugin = {
  name: 'on-first-use',
  resolveId: (id) => (LATE.includes(id) || id === 'late' ? `\0${id}` : undefined),
  load(id) {
    if (id === '\0late') return LATE_CODE
    const builtin = id.slice(1)
    if (!LATE.includes(builtin)) return undefined
    const late = (...given: readonly string[]): string => `/* @__PURE__ */ late(${given.map((one) => JSON.stringify(one)).join()})`
    // A number or a boolean can't be loaded later.
    const exported = Object.entries(process.getBuiltinModule(builtin) ?? {}).filter(([, value]) => Object(value) === value)
    const named = exported.map(([name]) => `export const ${name} = ${late(builtin, name)}`)
    return [`import { late } from 'late'`, ...named, `export default ${late(builtin)}`].join('\n')
  },
}

/** Escapes what is not ASCII: V8 would keep the whole file in two bytes per character, and Node would decode and hash it more slowly. */
const ascii = (code: string): string => {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('an escape would change the text of a String.raw template')
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The license texts of the inlined packages. @throws Error if a package has none */
function licenses(): string {
  const texts = INLINED.toSorted().map((name) => {
    const [file] = globSync(`node_modules/${name}/LICEN{S,C}E*`, { cwd: ROOT })
    const { version, license } = JSON.parse(readFileSync(join(ROOT, `node_modules/${name}/package.json`), 'utf8')) as Record<string, string>
    if (file === undefined && license !== 'Apache-2.0') throw new Error(`node_modules/${name} has no license text`)
    return `## ${name} ${version}\n\n${file === undefined ? license : readFileSync(join(ROOT, file), 'utf8').trim()}\n`
  })
  return `# What is in these files besides Mulligan\n\n${texts.join('\n')}`
}

/** File names contain the hash of their content, so an existing file is correct, and a file in use is never overwritten. */
function write(path: string, content: string): void {
  const file = join(INTO, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.${process.pid}`, content)
  renameSync(`${file}.${process.pid}`, file)
}

/**
 * Modules that are loaded together become one file, because a file takes about a millisecond and a turn would load eighty. The stages are
 * loaded in order; each file contains what its module imports and no earlier file has, so that no two import each other. `parse` and `undo`
 * come before the large stages, because they need little of them.
 */
const STAGES = ['host/config/settings', 'host/data/store', 'cli/commands/parse/parse', 'cli/commands/undo', 'host/tools/open-tools']
STAGES.push('cli/commands/run', 'host/models/openai-compatible')
/** The most characters of a module in a shared file: a command that needs little of a stage must not load all of it. */
const SMALL = 8000

/** @returns the stage of each module that belongs to one */
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

/** @param prune deletes the files of earlier builds. @throws Error that says what could not be bundled */
export async function bundle({ prune = false } = {}): Promise<void> {
  const build = await rolldown({
    input: { main: join(CLI, 'dist/main.js') },
    platform: 'node',
    // Its main file hides what it requires.
    resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
    preserveEntrySignatures: 'allow-extension',
    plugins: [descriptions, schemas, places, lateFetch, english, onFirstUse, lateBuiltins],
    external: (id) => !isInside(id),
    logLevel: 'warn',
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  const format = { format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' } as const
  // Only code that is used counts, which is known after it has been assigned to chunks.
  const stages = stagesOf((await build.generate(format)).output.filter((one) => one.type === 'chunk'))
  const { output } = await build.generate({
    ...format,
    comments: false,
    codeSplitting: { groups: [{ debugName: 'stages', name: (id) => stages.get(id) ?? null, includeDependenciesRecursively: false }] },
    minify: { mangle: { keepNames: true }, compress: false, codegen: { removeWhitespace: true } },
  })
  await build.close()
  const texts = new Map(
    (output as OutputBundle[string][]).map((one) => [one.fileName, one.type === 'chunk' ? ascii(one.code) : String(one.source)]),
  )
  texts.set('THIRD_PARTY.md', licenses())
  for (const [path, text] of texts) if (path !== 'main.js' && !existsSync(join(INTO, path))) write(path, text)
  // Written last, because it activates the bundle.
  write('main.js', texts.get('main.js') as string)
  // Node's compile cache of earlier bundles.
  rmSync(join(INTO, '.cache'), { recursive: true, force: true, maxRetries: 3 })
  for (const name of globSync('*', { cwd: INTO }))
    if (!texts.has(name) && (prune || Date.now() - statSync(join(INTO, name)).mtimeMs > DAY)) rmSync(join(INTO, name))
}
