/** Removes characters that are invisible to people but can carry arbitrary text to a model. */

/** Unicode tags, supplementary variation selectors, zero-width characters and invisible fillers. */
const UNSEEN = /[\u{e0000}-\u{e0fff}\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]|\u034f/gu
/** Runs of variation selectors. The first one affects the preceding character; the others have no effect. */
const SELECTORS = /([\ufe00-\ufe0f])[\ufe00-\ufe0f]+/g
const JOINERS = /[\u200c\u200d]+/g

const SCRIPTS = 'Arab Syrc Nkoo Mand Mong Phag Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Tibt Mymr Khmr'

/** Contexts in which joiners are legitimate: these scripts, and emoji. Created on first use, because Unicode's tables take 15 ms. */
let joined: ReturnType<typeof makeJoined> | undefined
function makeJoined() {
  const letters = SCRIPTS.split(' ')
    .map((script) => `\\p{Script_Extensions=${script}}`)
    .join('')
  return {
    before: [new RegExp(`[${letters}]$`, 'u'), /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u],
    after: [new RegExp(`^[${letters}]`, 'u'), /^\p{Extended_Pictographic}/u],
  } as const
}

export const withoutUnseen = (text: string): string =>
  text
    .replace(UNSEEN, '')
    .replace(SELECTORS, '$1')
    .replace(JOINERS, (run: string, at: number, whole: string) => {
      const before = whole.slice(Math.max(0, at - 2), at)
      const after = whole.slice(at + run.length, at + run.length + 2)
      joined ??= makeJoined()
      const isLetters = joined.before[0].test(before) && joined.after[0].test(after)
      const isEmoji = run === '\u200d' && joined.before[1].test(before) && joined.after[1].test(after)
      return run.length === 1 && (isLetters || isEmoji) ? run : ''
    })
