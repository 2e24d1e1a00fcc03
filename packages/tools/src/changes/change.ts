/** What a tool does to the workspace: a list of changes that take effect all together or not at all. */

import type { Resolved } from '../workspace/resolved.ts'
import type { LayerChange, OpenOnLayer } from './adopt.ts'

export type Change =
  /** `before`: SHA-256 of the content that is replaced; undefined for a file that must not exist yet. */
  | { readonly kind: 'write'; readonly file: Resolved; readonly bytes: Uint8Array; readonly before: string | undefined }
  /** `before` undefined: whatever is in it. */
  | { readonly kind: 'delete'; readonly file: Resolved; readonly before: string | undefined }
  /** `bytes`: the new content, when it changes too. Nothing may stand at `to`. */
  | {
      readonly kind: 'move'
      readonly from: Resolved
      readonly to: Resolved
      readonly before: string | undefined
      readonly bytes?: Uint8Array
    }
  /** With the folders it lies in. */
  | { readonly kind: 'make_dir'; readonly directory: Resolved }

export interface ChangeLog {
  /**
   * Makes the changes, in order, or none of them.
   *
   * @param callId of the call that makes them: `session/turn/step/ordinal`
   * @throws ModelRetry (conflict) when a file is not as `before` says; the error of the file system when it fails
   */
  readonly apply: (callId: string, changes: readonly Change[]) => Promise<void>
  /**
   * Makes what a command did on its layer, or none of it.
   *
   * @param open a file of the layer, to be read
   * @throws ModelRetry (conflict) when a path is not as `before` says; the error of the file system when it fails
   */
  readonly adopt: (callId: string, open: OpenOnLayer, changes: readonly LayerChange[]) => Promise<void>
}
