/** The type of one check of `mulligan doctor`. */

export interface Check {
  readonly name: string
  /** `lacking` is what Mulligan can do without, `missing` what it needs, `unused` what something else stands in for. */
  readonly state: 'ok' | 'lacking' | 'missing' | 'unused'
  /** What is there, or what is wrong. */
  readonly says: string
  /** What to do about it. */
  readonly remedy?: string
  /** Further facts, a row each. */
  readonly rows?: readonly (readonly string[])[]
}
