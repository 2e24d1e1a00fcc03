/** Reads the exports of a built package from its declaration files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Node, SyntaxKind } from 'typescript/unstable/ast'
import { API, type Project, SymbolFlags } from 'typescript/unstable/sync'

export interface Exported {
  readonly name: string
  readonly kind: 'function' | 'class' | 'type' | 'value'
  /** The JSDoc comment without asterisks; empty if there is none. */
  readonly doc: string
  /** The declarations, one per line or block, without the comment above them. */
  readonly declaration: string
  /** Absolute path of the file that declares it. */
  readonly file: string
}

/** @param entries declaration files, such as `packages/core/dist/index.d.ts`. @returns the exports of each, by name */
export function exportsOf(entries: readonly string[]): ReadonlyMap<string, readonly Exported[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mulligan-api-'))
  const config = join(folder, 'tsconfig.json')
  writeFileSync(config, JSON.stringify({ compilerOptions: { module: 'NodeNext', target: 'ES2024', types: [] }, files: entries }))
  const api = new API()
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    if (!project) throw new Error('the declaration files could not be read')
    return new Map(entries.map((entry) => [entry, exportsIn(project, entry)]))
  } finally {
    api.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function exportsIn({ program, checker, ...rest }: Project, entry: string): readonly Exported[] {
  const project = { program, checker, ...rest } as Project
  const file = program.getSourceFile(entry)
  const module = file && checker.getSymbolAtLocation(file)
  if (!module) throw new Error(`${entry} is not a module; is it built?`)
  return checker
    .getExportsOfModule(module)
    .map((symbol): Exported => {
      const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const nodes = target.declarations.flatMap((handle) => {
        const node = handle.resolve(project)
        return node ? [statementOf(node)] : []
      })
      const texts = nodes.map((node) => split(node.getSourceFile().text.slice(node.pos, node.end)))
      return {
        name: symbol.name,
        kind: kindOf(target.flags),
        doc: texts.map(({ doc }) => doc).find((doc) => doc !== '') ?? '',
        declaration: texts.map(({ rest }) => rest).join('\n'),
        file: nodes[0]?.getSourceFile().fileName ?? entry,
      }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** A variable is declared by the enclosing statement. */
function statementOf(node: Node): Node {
  let at = node
  while (at.kind === SyntaxKind.VariableDeclaration || at.kind === SyntaxKind.VariableDeclarationList) at = at.parent
  return at
}

function kindOf(flags: number): Exported['kind'] {
  if (flags & SymbolFlags.Function) return 'function'
  if (flags & SymbolFlags.Class) return 'class'
  return flags & SymbolFlags.Variable ? 'value' : 'type'
}

/** The last comment before a declaration belongs to it; an earlier one belongs to the file. */
function split(text: string): { readonly doc: string; readonly rest: string } {
  let rest = text.trim()
  let doc = ''
  for (let comment = LEADING.exec(rest); comment; comment = LEADING.exec(rest)) {
    doc = (comment[1] ?? '').replace(/^\s*\* ?/gm, '').trim()
    rest = rest.slice(comment[0].length)
  }
  // The compiler writes an inferred type that is not imported as `import("./file.ts").Name`.
  return { doc, rest: rest.replace(/^export (?:declare )?/, '').replace(/\bimport\("[^"]*"\)\./g, '') }
}
const LEADING = /^(?:\/\*\*?([\s\S]*?)\*\/|\/\/.*)\s*/
