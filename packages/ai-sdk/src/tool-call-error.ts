import { render, type ToolError } from '@mulligan/core'

/**
 * What a call that failed is thrown as. The message is what the model reads, and holds no secret, stack or host path.
 * `result.display ?? result.error` is for the person, `result` for programs.
 */
export class ToolCallError extends Error {
  readonly result: ToolError
  constructor(result: ToolError) {
    super(render(result))
    this.name = 'ToolCallError'
    this.result = result
  }

  /** The AI SDK sends the model this text: it begins with the status and not with a class. */
  override toString(): string {
    return this.message
  }
}
