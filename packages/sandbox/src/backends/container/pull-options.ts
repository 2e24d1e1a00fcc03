/** What fetching an image takes. Apart from what speaks to an engine, whose types are those of an optional package. */

export type EngineName = 'docker' | 'podman'

/** Node, git, Python and a compiler, from the Docker Hub. */
export const DEFAULT_IMAGE = 'docker.io/library/node:24-bookworm'

export interface PullOptions {
  /** Default: the first that answers. */
  readonly backend?: EngineName
  readonly signal?: AbortSignal
  /** A line for a person, as often as the engine says something new. */
  readonly onProgress?: (line: string) => void
}
