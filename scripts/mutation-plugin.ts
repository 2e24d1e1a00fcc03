/** Takes one rule out of the source while it is loaded; no file is changed. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'
import { MUTATIONS } from './mutations/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

export function mutation(id: string | undefined): Plugin {
  const chosen = MUTATIONS.find((one) => one.id === id)
  if (id && !chosen) throw new Error(`no mutation ${id}`)
  return {
    name: 'mutation',
    enforce: 'pre',
    load(path: string) {
      if (!chosen || path !== root + chosen.file) return null
      const text = readFileSync(path, 'utf8')
      const parts = text.split(chosen.find)
      if (parts.length !== 2) throw new Error(`mutation ${chosen.id}: "${chosen.find}" stands ${parts.length - 1} times in ${chosen.file}`)
      return parts.join(chosen.replace)
    },
  }
}
