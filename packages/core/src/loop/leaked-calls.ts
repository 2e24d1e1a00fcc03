/** Finds the calls that a model wrote into its text. A module of its own, so that only bundles that need it include it. */
import { createReply, type Family, type Reply, type ReplyOptions, type ToolSpec } from '@mulligan/repair'

/** Creates the reader of one reply. */
export type ReplyReader = (tools: readonly ToolSpec[], options: Pick<ReplyOptions, 'asks' | 'whole'>) => Reply

/**
 * Returns a reader that finds calls in the text of a reply, for models and servers that leave them there. If the model seems to have
 * meant a call that could not be read, it is asked once to make it; with `announcements` of `@mulligan/repair`, also if it has only
 * announced one.
 * @param families the markup to look for; `families` of `@mulligan/repair` contains all that are known. Only those named are bundled
 * @example
 * import { families } from '@mulligan/repair'
 * const turn = startTurn({ api: openaiChat, tools, leaks: leakedCalls(families) })
 */
export const leakedCalls =
  (families: readonly Family[], more: Pick<ReplyOptions, 'opensInReasoning' | 'announcements'> = {}): ReplyReader =>
  (tools, options) =>
    createReply(tools, { families, ...more, ...options })
