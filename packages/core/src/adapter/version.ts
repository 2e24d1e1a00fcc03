/** Refuses versions of a framework that an adapter was not made for. */

export interface Required {
  /** Name of the package. */
  readonly adapter: string
  /** Name of the framework's package. */
  readonly framework: string
  /** Its installed version. */
  readonly installed: string
  readonly major: number
  /** The first minor version. */
  readonly minor: number
}

/** @throws TypeError if another major or an earlier minor version is installed */
export function requireVersion({ adapter, framework, installed, major, minor }: Required): void {
  const [isMajor, isMinor] = installed.split('.').map(Number) as [number, number]
  if (isMajor !== major || isMinor < minor)
    throw new TypeError(`${adapter} requires ${framework} ${major}.${minor} or a later ${major}.x, but ${installed} is installed.`)
}
