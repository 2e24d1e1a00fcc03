/** The names of many files, laid out so that each can be told apart from another in a few machine operations. */

/** Names longer than this are cut to be compared. */
export const MAX_UNITS = 64

const DOT = 0x2e
const SLASH = 0x2f

export interface NameIndex {
  readonly paths: readonly string[]
  /** The names without extension, folded, one after the other. */
  readonly units: Uint16Array
  /** Where each begins in {@link units}; one more at the end. */
  readonly starts: Uint32Array
  /** Which letters and digits occur in each, in 32 bits. */
  readonly masks: Int32Array
}

/** A name folded into units: case, separators and punctuation away, so that `userName`, `user-name` and `USER_NAME` are one. */
export interface Folded {
  readonly units: Uint16Array
  readonly start: number
  readonly length: number
  readonly mask: number
}

const made = new WeakMap<readonly string[], NameIndex>()

/** Made once for a list of paths, which must not change. */
export function nameIndex(paths: readonly string[]): NameIndex {
  const known = made.get(paths)
  if (known) return known
  let units = new Uint16Array(paths.length * 16 + MAX_UNITS)
  const starts = new Uint32Array(paths.length + 1)
  const masks = new Int32Array(paths.length)
  let end = 0
  for (let at = 0; at < paths.length; at++) {
    if (end + MAX_UNITS > units.length) {
      const more = new Uint16Array(units.length * 2)
      more.set(units)
      units = more
    }
    const path = paths[at] as string
    const from = path.lastIndexOf('/') + 1
    const last = Math.min(stemEnd(path, from), from + MAX_UNITS)
    let mask = 0
    starts[at] = end
    for (let place = from; place < last; place++) {
      const unit = foldUnit(path.charCodeAt(place))
      if (unit === 0) continue
      units[end++] = unit
      mask |= 1 << (unit & 31)
    }
    masks[at] = mask
  }
  starts[paths.length] = end
  const index = { paths, units, starts, masks }
  made.set(paths, index)
  return index
}

export function foldedName(name: string): Folded {
  const { units, starts, masks } = nameIndex([name])
  return { units, start: 0, length: starts[1] as number, mask: masks[0] as number }
}

/** Lower case; 0 for what is no letter or digit. */
function foldUnit(unit: number): number {
  if (unit >= 0x61 && unit <= 0x7a) return unit
  if (unit >= 0x41 && unit <= 0x5a) return unit | 0x20
  return unit >= 0x80 || (unit >= 0x30 && unit <= 0x39) ? unit : 0
}

/** Where the extension begins; the end where there is none. A dot file is all stem. */
export function stemEnd(path: string, from: number): number {
  for (let at = path.length - 1; at > from; at--) {
    const unit = path.charCodeAt(at)
    if (unit === DOT) return at
    if (unit === SLASH) break
  }
  return path.length
}
