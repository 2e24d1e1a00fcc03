/** A path that was checked. */
export interface Resolved {
  /** Real path on this machine: for opening, never for the model. */
  readonly absolute: string
  /** As the model sees it. */
  readonly relative: string
  readonly kind: 'file' | 'directory' | 'missing'
  /** It is a link itself, which was not followed; `kind` is then `file`. */
  readonly isLink?: boolean
  /** The real folder it lies in: the workspace, or that of spilled results. */
  readonly root: string
  /** It is a spilled result. */
  readonly output: boolean
}
