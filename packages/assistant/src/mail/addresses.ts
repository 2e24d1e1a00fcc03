/** Reads the addresses of a message. */
import { ModelRetry } from '@mulligan/core'
import { oneLine } from '../common/text.ts'

const ADDRESS = /^[^\s@<>(),;]+@[^\s@<>(),;]+\.[^\s@<>(),;.]+$/

export interface Address {
  readonly address: string
  /** The address with its name, for a header. */
  readonly text: string
}

/**
 * Returns single addresses, each with its name if it has one. An item may hold several, separated by commas.
 *
 * @throws ModelRetry for what is not an address
 */
export async function addressesIn(given: readonly string[], parameter: string): Promise<readonly Address[]> {
  const { default: parse } = await import('nodemailer/lib/addressparser')
  return given
    .flatMap((text) => parse(text, { flatten: true }))
    .map(({ name, address }) => {
      if (ADDRESS.test(address)) return { address, text: name ? `${quoted(name)} <${address}>` : address }
      throw new ModelRetry(`${JSON.stringify(oneLine(address || name, 80))} is not an address.`, {
        parameter,
        value: given,
        constraint: 'addresses such as ana@example.com, or Ana <ana@example.com>',
      })
    })
}

const quoted = (name: string): string => (/^[\p{L}\p{N} .'-]+$/u.test(name) ? name : JSON.stringify(oneLine(name, 200)))
