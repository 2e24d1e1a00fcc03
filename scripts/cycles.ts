/** Finds import cycles between the folders and files of a package. What is in a cycle can't be read, tested or moved separately. */
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { importsIn } from './dependencies.ts'

type Graph = Map<string, Set<string>>

/** Type imports count, because a reader has to read the types too. */
export function cycles(
  files: readonly string[] = globSync('{packages,apps}/*/src/**/*.{ts,tsx}'),
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
    cyclesIn(graph).map((names) => `${folder}: ${names.join(', ')} import each other in a cycle`),
  )
}

/** The folder that contains both files, and the entry of that folder that each belongs to. */
function apart(file: string, other: string): readonly [folder: string, from: string, to: string] {
  const [a, b] = [file.split('/'), other.split('/')]
  let at = 0
  while (at < a.length - 1 && at < b.length - 1 && a[at] === b[at]) at++
  return [a.slice(0, at).join('/'), a[at] as string, b[at] as string]
}

/** The sets of entries that all reach one another. */
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
