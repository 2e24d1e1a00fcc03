/** Decides from the text around a call whether it is being made or only shown, refused, planned or discussed. */

/** Phrases that introduce a quoted example, whatever the model intends. Each ends where the block begins. */
const SHOWN =
  /\b(?:e\.g\.|for instance|such as|an? (?:\w+ ){0,2}example(?: of \w+(?: \w+)?)?|example(?: \d+)?|written (?:as|like)|write it as|like (?:this|so)|as follows|instead of|rather than|hypothetically|step \d+|(?:actual|expected) output|would (?:be|look|write|send|emit|call|use|output)|(?:you|one|models?|it|they|users?) (?:can|could|should|must|might|may) (?:write|send|emit|call|use|output|answer|reply)|the (?:model|assistant) (?:writes?|emits?|sends?|answers?|outputs?|says))(?:\s+[\w'-]+){0,5}\s*[*_]*[:,.]?[*_]*$/i
/** A word before a colon that says what kind of text follows. */
const LABEL =
  /(?:^|[.\n])\W*(?:use|correct|wrong|right|good|bad|corrected|before|after|input|output|note|result|expected|actual|response)\b\s*[*_]*[:：][*_]*$/i
/** Phrases that introduce an example but may also announce an action. */
const SHOWN_UNLESS_MEANT =
  /\b(?:look(?:s|ed)? like|examples?|formats?|syntax|template|says|said|reads|contain(?:s|ed)?|show(?:s|ed)|print(?:s|ed)|return(?:s|ed)|replied|wrote|writes|states|includes?|holds|emits?|emitted|outputs|sends|(?:text|string|line|markup|output|contents?|payload|snippet|message|result|response|log) (?:is|was|are|were))(?:\s+[\w'-]+){0,3}\s*[*_]*[:,]?[*_]*$/i
/** An announced action is not a quotation. */
const INTENT =
  /\b(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|going to|i need to|i should|i must|i want to|now i|i can|i am|i'm|first,? i|next,? i|then i)\b|(?:^|[.!?\n]\s*|\b(?:now|so|first|next|then),? )[A-Z]?[a-z]{2,}ing\b/gi
const REFUSAL =
  /\b(?:(?:will|would|shall|can|could|should|do|did|does|must|am|have)(?: not|n't)|won't|can't|cannot|never|refuse(?:s|d)?|without (?:running|calling|executing|making|sending)|not (?:call|run|execut|going|been|mak|send)\w*|avoid)\b/gi
/** The user has to reply first, or the action is already over. */
const WAITS =
  /\?|\b(?:confirm|shall i|should i|would you|do you want|if you|before i|once you|already|as requested|unless|please|dry.?run|ignore|injection|suspicious)\b/i
/** The request does not fit the tool, so the call is only a suggestion. */
const HEDGED =
  /\b(?:no (?:\w+ )?(?:function|tool)s?|(?:do|does|did)(?: not|n't) (?:provide|mention|specify)|(?:i'll|i will|i am|i'm|we|let's) assum\w+)\b/i
/** Words that say nothing about the text that follows. */
const NEUTRAL =
  /^\W*(?:sure|ok|okay|certainly|of course|alright|all right|right|got it|great|understood|yes|absolutely|here (?:is|are) the (?:tool |function )?calls?|(?:the )?(?:tool|function) calls?)\W*$/i
/** Tokens that end a turn and carry no content. */
export const END_TOKENS =
  /<\/s>|<\|(?:im_end|eot_id|eom_id|endoftext|end|return|call|user|observation|END_OF_TURN_TOKEN|end_of_text|end_of_turn|eos)\|>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>|\[\/?INST\]|\[e~\[/g
/** Text after a call with more words than this is an answer rather than an afterthought. */
const AFTERTHOUGHT = 12

export interface Surroundings {
  /** The preceding text that belongs to the same answer. */
  readonly lead: string
  readonly tail: string
  /** The markup is used only for calls, and it names a tool. */
  readonly sure: boolean
  /** The tool has effects, so the call must clearly be intended. */
  readonly careful: boolean
  /** Returns whether the preceding sentence announces the call, for languages other than English. */
  readonly announces?: ((sentence: string) => boolean) | undefined
  /** The call has no markup and shares its line with words. */
  readonly inLine: boolean
}

export interface NotMeant {
  readonly why: string
  /** The call may well have been intended, so the model is asked. Otherwise it is part of the answer. */
  readonly open: boolean
}

const shown = (why: string): NotMeant => ({ why, open: false })
const open = (why: string): NotMeant => ({ why, open: true })

/** Returns why a block is doubtful, or undefined if it looks like a real call. */
export function whyNotMeant({ lead, tail: after, sure, careful, inLine, announces }: Surroundings): NotMeant | undefined {
  const tail = after.replace(END_TOKENS, '')
  const sentence = lastSentence(lead)
  const intent = (): number => lastIndex(sentence, INTENT)
  if (SHOWN.test(sentence) || LABEL.test(sentence) || (SHOWN_UNLESS_MEANT.test(sentence) && intent() === -1))
    return shown('shown as an example')
  const refusal = lastIndex(sentence, REFUSAL)
  if (refusal !== -1 && refusal > intent()) return shown('after words that it is not made')
  if (!sure && HEDGED.test(lead)) return open('after words that it does not fit')
  const goesOn = tail.trim()
  if (goesOn !== '') {
    if (/^[ \t]*(?:[,;)\]”"'’»`]|\p{Ll}|[-–—] )|^[ \t]+\p{Lo}|^[をはがもでにと]/u.test(tail)) return shown('in the middle of a sentence')
    const alone = !careful && lead.trim() === ''
    if (alone && (sure || /^[^\S\n]*\S/.test(tail))) return undefined
    const words = goesOn.slice(0, 200).split(/\s+/).length
    if (words > AFTERTHOUGHT || (/[:：]\s*$/.test(lead) && words >= 3))
      return { why: 'shown in an answer that goes on', open: careful || alone }
    if (lead.trim() !== '' && !/[.!?…。！？:：>)\]\n]\s*$/.test(lead) && /^[ \t]*[^\s]/.test(tail))
      return shown('in the middle of a sentence')
    if (careful || !(sure || alone)) return open('followed by more of the answer')
  }
  if (careful && inLine) return open('on a line with words')
  if (!careful || lead.trim() === '' || NEUTRAL.test(lead)) return undefined
  const near = lead.trimEnd().slice(-NEAR)
  if (WAITS.test(near)) return shown('where a word of somebody is waited for')
  return intent() === -1 && !announces?.(sentence) ? open('not announced') : undefined
}

/** How far back the text is searched for statements about an effect, in characters. */
const NEAR = 200

const lastIndex = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].at(-1)?.index ?? -1

function lastSentence(text: string): string {
  const near = text.slice(-300).trimEnd()
  const from = Math.max(
    ...['. ', '! ', '? ', '.\n', '!\n', '?\n', '\n\n', '。'].map((end) => {
      const at = near.lastIndexOf(end, near.length - 2)
      // Abbreviations such as "e.g. " do not end a sentence.
      return at === -1 || /\b(?:e\.g|i\.e|etc)$/i.test(near.slice(0, at)) ? -1 : at + end.length - 1
    }),
  )
  return near.slice(from + 1)
}
