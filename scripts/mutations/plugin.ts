/** Removes one rule from the source while it is loaded. Changes no file. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import type { Mutation } from './mutation.ts'
import { takeOut } from './take-out.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** @param chosen the rule that is currently removed; `undefined` while all are in place */
export function mutation(all: readonly Mutation[], chosen: () => Mutation | undefined): Plugin {
  const files = new Set(all.map(({ file }) => root + file))
  return {
    name: 'mutation',
    enforce: 'pre',
    // The cache on disk is keyed by the text of a file, without the removed rule.
    configureVitest: ({ defineCacheKeyGenerator }) => defineCacheKeyGenerator(({ id }) => (files.has(id) ? false : undefined)),
    load(path: string) {
      const mutation = chosen()
      return mutation && path === root + mutation.file ? takeOut(mutation, readFileSync(path, 'utf8')) : null
    },
  }
}
