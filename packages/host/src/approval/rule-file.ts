/** Adds rules to the user's own file atomically and leaves the rest unchanged. */
import { readFile, realpath } from 'node:fs/promises'
import { changing, replaceFile } from '../common/write.ts'
import { checkWith } from '../config/check.ts'
import { parseJsonc } from '../config/jsonc.ts'
import { insertInto } from '../config/jsonc-edit.ts'
import type { ConfiguredRule } from '../config/schema.ts'
import { configSchema } from '../config/schema.ts'

/**
 * Adds the rules.
 * @param asks whether a rule is the reason for the question: the new rules go before it, because the first match decides
 * @returns why it failed, as text to follow the file name; undefined on success
 */
export async function addRules(
  file: string,
  rules: readonly ConfiguredRule[],
  asks: (rule: ConfiguredRule) => boolean,
): Promise<string | undefined> {
  try {
    // Write through a link, such as one into a folder of dotfiles, instead of replacing it.
    const at = await realpath(file).catch(() => file)
    return await changing(at, async () => {
      const text = await readFile(at, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return ''
        throw error
      })
      const changed = withRules(text, rules, asks)
      if (changed === undefined) return 'could not be changed without damaging its content'
      await replaceFile(at, changed)
      return undefined
    })
  } catch (error) {
    return `can't be written (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`
  }
}

function withRules(text: string, rules: readonly ConfiguredRule[], asks: (rule: ConfiguredRule) => boolean): string | undefined {
  const parsed = parseJsonc(text)
  const checked = parsed.ok ? checkWith(configSchema(), parsed.value) : undefined
  if (!checked?.ok) return undefined
  const policy = (checked.value.policy ?? []) as readonly ConfiguredRule[]
  const asking = policy.findIndex(asks)
  let at = asking === -1 ? policy.length : asking
  let changed: string | undefined = text
  for (const rule of rules) changed = changed === undefined ? undefined : insertInto(changed, 'policy', rule, at++)
  return changed
}
