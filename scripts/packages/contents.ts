/** Checks the files of a package. */
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import type { Manifest } from './pack.ts'

export interface Contents {
  readonly manifest: Manifest
  readonly files: ReadonlyMap<string, string>
}

export interface Expected {
  /** The expected text of each package's LICENSE. */
  readonly license: string
  /** The folder of the repository, which no file may contain. */
  readonly root: string
  /** Whether the package has this source file, by a path such as `src/index.ts`. */
  readonly hasSource: (path: string) => boolean
}

const KINDS =
  /^(?:package\.json|README\.md|LICENSE|mulligan\.schema\.json|bin\/[^/]+\.js|[\w.]+\.schema\.json|dist\/.*(?:\.js|\.d\.ts|\.md)|dist\/web\/(?:index\.html|assets\/[\w.-]+))$/
const FOR_TESTS = /\.(?:test|test-d|fixture)\.|(?:^|\/)(?:fixtures|__\w+__)\//
const IMPORT = /^\s*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*'([^']+)'|\bimport\('([^']+)'\)/gm

export function wrongContents({ manifest, files }: Contents, expected: Expected): string[] {
  const wrong: string[] = []
  for (const needed of ['README.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts'])
    if (!files.has(needed)) wrong.push(`${needed} is missing`)
  if (files.has('LICENSE') && files.get('LICENSE') !== expected.license) wrong.push('LICENSE is not the one of the repository')
  for (const [path, text] of files) {
    if (!KINDS.test(path) || FOR_TESTS.test(path)) wrong.push(`${path} does not belong in a package`)
    else if (path.startsWith('dist/') && !/^dist\/(?:bundle|web)\//.test(path) && !sourcesOf(path).some(expected.hasSource))
      wrong.push(`${path} has no source any more: run \`node scripts/build.ts --clean\``)
    if (text.includes(expected.root)) wrong.push(`${path} names a folder of this machine`)
    const map = /^\/\/# sourceMappingURL=(\S+)$/m.exec(text)?.[1]
    if (map !== undefined && !files.has(posix.join(posix.dirname(path), map))) wrong.push(`${path} has a source map that does not exist`)
  }
  return [...wrong, ...undeclared({ manifest, files })]
}

const sourcesOf = (path: string): string[] => {
  const stem = path.replace(/^dist\//, 'src/').replace(/\.d\.ts$|\.js$/, '')
  return path.endsWith('.md') ? [stem] : [`${stem}.ts`, `${stem}.tsx`]
}

/** Packages that are imported but not declared: they exist in the repository, but not in a user's project. */
function undeclared({ manifest, files }: Contents): string[] {
  const { name, dependencies, peerDependencies, optionalDependencies } = manifest
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })])
  const missing = new Map<string, string>()
  for (const [path, text] of files)
    for (const [, still, lazy] of /\.(?:js|d\.ts)$/.test(path) ? text.matchAll(IMPORT) : []) {
      const target = packageOf(still ?? lazy ?? '')
      if (target !== undefined && !declared.has(target)) missing.set(target, path)
    }
  return [...missing].map(([target, path]) => `${path} imports ${target}, which package.json does not declare`)
}

function packageOf(specifier: string): string | undefined {
  if (/^[./#]|^node:/.test(specifier) || specifier === '') return undefined
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  return builtinModules.includes(name) ? undefined : name
}

/** Our packages are published together: each requires the others in exactly the tested version. */
export function wrongVersions(manifests: readonly Manifest[]): string[] {
  const versions = new Map(manifests.map(({ name, version }) => [name, version]))
  return manifests.flatMap(({ name, dependencies = {} }) =>
    Object.entries(dependencies)
      .filter(([other, range]) => versions.has(other) && versions.get(other) !== range)
      .map(([other, range]) => `${name} asks for ${other} ${range}, which is ${versions.get(other)}`),
  )
}
