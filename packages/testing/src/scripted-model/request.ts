/** What a scripted model records of each request. */

/** The protocol of a request: OpenAI's chat completions and responses, Anthropic's messages, and Ollama's own API. */
export type Protocol = 'openai' | 'responses' | 'anthropic' | 'ollama'

/** One request for a completion. */
export interface RecordedRequest {
  /** From 1, in order of arrival. */
  readonly n: number
  readonly protocol: Protocol
  readonly path: string
  /** As received, with lower-case names. **Includes credentials**, so that a test can check them: do not print these. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body; `undefined` if it is not valid JSON. */
  readonly body: unknown
  readonly bodyText: string
  /** The client disconnected before the response was complete. Final once `model.idle()` has resolved. */
  readonly aborted: boolean
  /** Ollama: tokens of a prompt that did not fit into the context, and the tokens of it that were read. */
  readonly cut?: { readonly sent: number; readonly read: number }
}

/** Something that must not happen: a request that a provider would refuse, an unexpected request, or an `expect` that threw. */
export interface Violation {
  /** The request's number. */
  readonly request: number
  readonly message: string
}

/** One tool result as the model reads it. */
export interface SeenToolResult {
  readonly id: string
  /** The name in the call that it answers. */
  readonly name?: string
  /** Its text parts, joined. */
  readonly text: string
  /** Only Anthropic has this flag. */
  readonly isError?: boolean
}
