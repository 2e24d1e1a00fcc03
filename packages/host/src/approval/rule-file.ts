/** Adds rules to the user's own file atomically, and leaves the rest as it is. */
import { readFile, realpath } from 'node:fs/promises'
import { changing, replaceFile } from '../common/write.ts'
import type { ConfiguredRule } from '../config/approval-fields.ts'
import { checkWith } from '../config/check.ts'
import { parseJsonc } from '../config/jsonc.ts'
import { insertInto } from '../config/jsonc-insert.ts'
import { configSchema } from '../config/schema.ts'

/**
 * @param asks whether a rule is why there was a question: the new ones go before it, because the first that matches decides
 * @returns why it could not be done, to follow the name of the file
 */
export async function addRules(
  file: string,
  rules: readonly ConfiguredRule[],
  asks: (rule: ConfiguredRule) => boolean,
): Promise<string | undefined> {
  try {
    // A link, as into a folder of dotfiles, stays one.
    const at = await realpath(file).catch(() => file)
    return await changing(at, async () => {
      const text = await readFile(at, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return ''
        throw error
      })
      const changed = withRules(text, rules, asks)
      if (changed === undefined) return 'could not be changed without disturbing what is in it'
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
