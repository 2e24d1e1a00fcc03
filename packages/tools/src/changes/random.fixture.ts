/** Generates random trees and changesets. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { sha256 } from '../sha256.ts'
import type { Change } from '../workspace/change.ts'
import { resolved, snapshot } from './changes.fixture.ts'

/** A file's content, or null for a folder. */
export type Model = ReadonlyMap<string, string | null>

export const MODES = [0o644, 0o600, 0o755, 0o444, 0o4755]

export function build(root: string, model: Model): void {
  let turn = 0
  for (const [path, content] of model) {
    const at = join(root, path)
    mkdirSync(content === null ? at : dirname(at), { recursive: true })
    if (content === null) continue
    writeFileSync(at, content)
    chmodSync(at, MODES[turn++ % MODES.length] as number)
  }
}

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
const content = fc.constantFrom('', 'one', 'two\n', 'three\0')

const parents = (of: string): readonly string[] =>
  of.split('/').flatMap((_, index, names) => (index === 0 ? [] : [names.slice(0, index).join('/')]))
const free = (model: Model, of: string): boolean =>
  !model.has(of) && !of.startsWith('/') && parents(of).every((one) => model.get(one) === undefined || model.get(one) === null)
const withParents = (model: Map<string, string | null>, of: string): Map<string, string | null> => {
  for (const one of parents(of)) model.set(one, null)
  return model
}

export const tree: fc.Arbitrary<Model> = fc.array(fc.tuple(path, content, fc.boolean()), { maxLength: 8 }).map((entries) => {
  const model = new Map<string, string | null>()
  for (const [at, text, isFolder] of entries) if (free(model, at)) withParents(model, at).set(at, isFolder ? null : text)
  return model
})

const wish = fc.record({
  kind: fc.constantFrom<'write' | 'delete' | 'move' | 'make_dir'>('write', 'write', 'delete', 'move', 'move', 'make_dir'),
  pick: fc.nat(1000),
  path,
  content,
  also: fc.boolean(),
})
export const wishes = fc.array(wish, { minLength: 1, maxLength: 6 })
export type Wish = typeof wish extends fc.Arbitrary<infer T> ? T : never

export interface Planned {
  readonly changes: readonly Change[]
  /** The tree after the changes. */
  readonly model: Model
}

/** Applies the wishes one after another, skipping the impossible ones. */
export function planned(root: string, before: Model, of: readonly Wish[]): Planned {
  const model = new Map(before)
  const changes = of.flatMap((one) => oneChange(root, model, one))
  return { changes, model }
}

function oneChange(
  root: string,
  model: Map<string, string | null>,
  { kind, pick, path: at, content: text, also }: Wish,
): readonly Change[] {
  const all = [...model.keys()].sort()
  const chosen = all[pick % Math.max(1, all.length)]
  const hashOf = (of: string): string | undefined => {
    const now = model.get(of)
    return now === null || now === undefined ? undefined : sha256(now)
  }
  switch (kind) {
    case 'write': {
      const file = also && chosen !== undefined && model.get(chosen) !== null ? chosen : at
      if (model.get(file) === null || !(model.has(file) || free(model, file))) return []
      const change: Change = { kind: 'write', file: resolved(root, file), bytes: Buffer.from(text), before: hashOf(file) }
      withParents(model, file).set(file, text)
      return [change]
    }
    case 'delete': {
      if (chosen === undefined || all.some((one) => one.startsWith(`${chosen}/`))) return []
      const change: Change = { kind: 'delete', file: resolved(root, chosen), before: hashOf(chosen) }
      model.delete(chosen)
      return [change]
    }
    case 'make_dir':
      if (!free(model, at)) return []
      withParents(model, at).set(at, null)
      return [{ kind: 'make_dir', directory: resolved(root, at) }]
    default: {
      if (chosen === undefined || !free(model, at) || at.startsWith(`${chosen}/`)) return []
      const bytes = also && model.get(chosen) !== null ? Buffer.from(text) : undefined
      const change: Change = {
        kind: 'move',
        from: resolved(root, chosen),
        to: resolved(root, at),
        before: hashOf(chosen),
        ...(bytes && { bytes }),
      }
      withParents(model, at)
      for (const one of all)
        if (one === chosen || one.startsWith(`${chosen}/`)) {
          model.set(at + one.slice(chosen.length), bytes && one === chosen ? text : (model.get(one) ?? null))
          model.delete(one)
        }
      return [change]
    }
  }
}

export const modelOf = (root: string): Model =>
  new Map(
    Object.keys(snapshot(root)).map((one) => [one, statSync(join(root, one)).isDirectory() ? null : readFileSync(join(root, one), 'utf8')]),
  )
