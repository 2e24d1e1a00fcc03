/** Computes the rule for an approved shell command: this exact command, or all with the same prefix. */

/** What of a simple command counts here; the command policy of the shell tools says it. */
export interface ParsedCommand {
  readonly text: string
  /** Its words say all that it does, so that it may be allowed again. */
  readonly isExact: boolean
  readonly writes: boolean
}

/** What is handed on unread behind `--`: further arguments name no programs, settings or folders of the program itself. */
const BEGINNINGS = /^(?:(?:npm|pnpm|yarn|bun) (?:test|run \w[\w:./@+-]*)|cargo test)(?=$| -- )/

/** `npm test` and `npm test -- *` for `npm test`. `undefined` if only the command as it stands may be allowed. */
export function prefixOf({ text, isExact, writes }: ParsedCommand): readonly string[] | undefined {
  const begins = isExact && !writes ? BEGINNINGS.exec(text)?.[0] : undefined
  return begins === undefined ? undefined : [begins, `${begins} -- *`]
}
