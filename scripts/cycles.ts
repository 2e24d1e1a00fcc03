/** Cycles between the folders of a package: where there is one, no folder of it can be read, tested or moved without the others. */
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { importsIn } from './dependencies.ts'

/** Folders whose cycles are known and not taken apart yet. No others may become part of one. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'packages/agent/src': ['context', 'model', 'store', 'turn'],
  'packages/core/src': ['call', 'turn'],
  'packages/tools/src/shell': ['background', 'bash', 'common', 'layer'],
}

type Graph = Map<string, Set<string>>

/** Also through the files beside the folders. Types count: who reads a folder has to read what its types are. */
export function cycles(
  files: readonly string[] = globSync('packages/*/src/**/*.{ts,tsx}'),
  read = (file: string) => readFileSync(file, 'utf8'),
): string[] {
  const inFolder = new Map<string, Graph>()
  for (const file of files.filter((one) => !/\.(?:test|test-d|fixture)\.tsx?$|\/fixtures\//.test(one)))
    for (const target of importsIn(read(file))) {
      if (!target.startsWith('.')) continue
      const [folder, from, to] = apart(file, posix.join(posix.dirname(file), target))
      const graph: Graph = inFolder.get(folder) ?? new Map()
      inFolder.set(folder, graph.set(from, (graph.get(from) ?? new Set()).add(to)))
    }
  return [...inFolder].flatMap(([folder, graph]) =>
    cyclesIn(graph)
      .map((names) => names.filter((name) => !name.includes('.')).sort())
      .filter((names) => names.length > 0 && !names.every((name) => KNOWN[folder]?.includes(name)))
      .map((names) => `${folder}: ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} in a cycle of imports`),
  )
}

/** The folder that two files have in common, and in which of its entries each lies. */
function apart(file: string, other: string): readonly [folder: string, from: string, to: string] {
  const [a, b] = [file.split('/'), other.split('/')]
  let at = 0
  while (at < a.length - 1 && at < b.length - 1 && a[at] === b[at]) at++
  return [a.slice(0, at).join('/'), a[at] as string, b[at] as string]
}

/** Each set of entries that all reach each other. */
function cyclesIn(graph: Graph): readonly (readonly string[])[] {
  const reach = new Map([...graph.keys()].map((from) => [from, reachedFrom(from, graph)]))
  const found = new Map<string, readonly string[]>()
  for (const [name, reached] of reach) {
    if (!reached.has(name)) continue
    const names = [...reached].filter((other) => reach.get(other)?.has(name)).sort()
    if (names.length > 1) found.set(names.join(), names)
  }
  return [...found.values()]
}

function reachedFrom(name: string, graph: Graph): ReadonlySet<string> {
  const reached = new Set<string>()
  const left = [...(graph.get(name) ?? [])]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    left.push(...(graph.get(next) ?? []))
  }
  return reached
}
