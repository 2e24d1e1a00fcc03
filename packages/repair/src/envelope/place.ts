/**
 * Where in an answer a piece of markup stands: in a fence, in inline code, in quotes, in what somebody else said. A call
 * that is quoted is no call.
 */

/** Code fences and quoting elements that are open, after some text. */
export interface Place {
  /** The run of backticks or tildes that opened a fence. */
  readonly fence: string | undefined
}

export const OUTSIDE: Place = { fence: undefined }

const RUN = /`{3,}|~{3,}/g
/** What may stand before a fence: indentation, and the marks of lists and quotes. */
const BEFORE_FENCE = /^[ \t]{0,12}(?:[-*+>] +|\d+[.)] +)*$/

/** The place after `text`, which began at the start of a line. Its last line may be unfinished. */
export function placeAfter(text: string, before: Place = OUTSIDE): Place {
  if (!text.includes('```') && !text.includes('~~~')) return before
  let { fence } = before
  RUN.lastIndex = 0
  for (let found = RUN.exec(text); found; found = RUN.exec(text)) {
    const [run] = found
    const at = found.index
    const newline = text.indexOf('\n', at)
    const end = newline === -1 ? text.length : newline
    // Only the first run in a line can be a fence.
    RUN.lastIndex = end
    if (!BEFORE_FENCE.test(text.slice(text.lastIndexOf('\n', at) + 1, at))) continue
    const rest = text.slice(at + run.length, end)
    if (fence === undefined) {
      // A fence of backticks has none in its first line: ```x``` is inline code.
      if (run[0] === '~' || !rest.includes('`')) fence = run
    } else if (run[0] === fence[0] && run.length >= fence.length && rest.trim() === '') fence = undefined
  }
  return fence === before.fence ? before : { fence }
}

/** Elements in which people and models show what somebody else wrote. */
const QUOTING =
  /<(\/?)(tool_response|tool_result|tool_results|tool_output|function_results?|function_response|output|stdout|stderr|result|results|example|examples|code|pre|samp|kbd|file|file_content|document|content|blockquote|quote|log|untrusted|user|input|message)(?:\s[^<>]{0,200})?>/gi

/** Why what stands at the end of `before` is quoted, as far as `before` can tell; undefined when nothing says so. */
export function quotedAfter(before: string, { fence }: Place): string | undefined {
  if (fence !== undefined) return 'in a code fence'
  const line = before.slice(before.lastIndexOf('\n') + 1)
  if (/^\s{0,3}(?:[-*+] |\d+[.)] )?\s*>(?!>>)/.test(line) && !/^\s*>>>/.test(line)) return 'in a block quote'
  if (odd(line, '`')) return 'in inline code'
  if (/["“«「『‹]$/.test(line) && (!line.endsWith('"') || odd(line, '"'))) return 'in quotes'
  if (/(?:^|[\s(:=])['‘]$/.test(line)) return 'in quotes'
  if (/^(?: {4}|\t)/.test(line) && before.trim() !== '') return 'in an indented block'
  if (/^\s*(?:\/\/|#|\*|--)\s/.test(line) || before.lastIndexOf('<!--') > before.lastIndexOf('-->')) return 'in a comment'
  const open: string[] = []
  for (const [, slash, name = ''] of before.matchAll(QUOTING)) {
    if (slash === '') open.push(name.toLowerCase())
    else if (open.includes(name.toLowerCase())) open.length = open.lastIndexOf(name.toLowerCase())
  }
  return open.length > 0 ? `inside <${open.at(-1)}>` : undefined
}

const odd = (text: string, char: string): boolean => (text.split(char).length - 1) % 2 === 1

/** Ways to say that what follows is shown, not done. Each ends where the block begins. */
const EXAMPLE =
  /\b(?:for example|e\.g\.|for instance|such as|looks? like|looked like|an? (?:\w+ ){0,2}example(?: of \w+(?: \w+)?)?|examples?|formats?|syntax|written as|write it as|like this|as follows|instead of|rather than|template|would (?:be|look|write|send|emit|call|use|output)|(?:you|one|models?|it|they|users?) (?:can|could|should|must|might|may) (?:write|send|emit|call|use|output|answer|reply))(?:\s+[\w'-]+){0,4}\s*[:,]?$/i
const REPORT =
  /\b(?:says|said|reads|contains?|contained|shows|showed|printed|prints|returned|returns|replied|wrote|writes|states|includes?|holds|emits?|emitted|outputs|sends|found|(?:text|string|line|markup|output|contents?|payload|snippet|message|result|response|log) (?:is|was|are|were))(?:\s+[\w'-]+){0,3}\s*[:,]?$/i
/** Whoever announces what they do next quotes nobody. */
const INTENT =
  /\b(?:let me|let's|let us|i'll|i will|i'm going to|i am going to|going to|i need to|i should|now i|i can|calling|checking|reading|searching)\b/i

/**
 * Why a block between `lead` and `tail` is doubtful: the answer goes on around it as if it was shown. Undefined when it
 * stands like a call: at the end, or between sentences.
 */
export function doubtBetween(lead: string, tail: string): string | undefined {
  const sentence = lastSentence(lead)
  if (EXAMPLE.test(sentence) || (REPORT.test(sentence) && !INTENT.test(sentence))) return 'shown as an example'
  const goesOn = tail.trim()
  if (goesOn === '') return undefined
  if (/^[ \t]*(?:[,;)\]”"'’»`]|\p{Ll}|[-–—] )/u.test(tail)) return 'in the middle of a sentence'
  const words = goesOn.slice(0, 100).split(/\s+/).length
  if (/[:：]\s*$/.test(lead) && words >= 3) return 'shown in an answer that goes on'
  if (lead.trim() !== '' && !/[.!?…。！？:：>)\]\n]\s*$/.test(lead) && /^[ \t]*[^\s]/.test(tail)) return 'in the middle of a sentence'
  return undefined
}

function lastSentence(text: string): string {
  const near = text.slice(-300).trimEnd()
  const from = Math.max(
    ...['. ', '! ', '? ', '.\n', '!\n', '?\n', '\n\n', '。'].map((end) => {
      const at = near.lastIndexOf(end, near.length - 2)
      // "e.g. " and its like end no sentence.
      return /\b(?:e\.g|i\.e|etc)$/i.test(near.slice(0, at)) ? -1 : at + end.length - 1
    }),
  )
  return near.slice(from + 1)
}
