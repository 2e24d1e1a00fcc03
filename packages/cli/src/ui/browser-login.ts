/** A login in the browser, which may run on another machine than mulligan. */
import { createInterface } from 'node:readline'
import { watchInterrupts } from '../process.ts'
import { openBrowser } from './open-browser.ts'
import type { Output } from './output.ts'

/** Milliseconds that a person may take. */
const PATIENCE = 10 * 60_000

export interface BrowserLogin extends Disposable {
  /** Aborts on Ctrl-C, and after ten minutes. */
  readonly signal: AbortSignal
  readonly isInterrupted: () => boolean
  /** @param paste takes an address that the person pastes. Returns whether it is the answer */
  readonly show: (address: URL, paste: (text: string) => boolean) => void
}

/** @param opens whether to open the browser. Reads from stdin until it is disposed. */
export function browserLogin(opens: boolean, output: Output): BrowserLogin {
  const lines = createInterface({ input: process.stdin })
  const interrupt = watchInterrupts(() => undefined)
  return {
    signal: AbortSignal.any([interrupt.signal, AbortSignal.timeout(PATIENCE)]),
    isInterrupted: () => interrupt.signal.aborted,
    show(address, paste) {
      const isOpened = opens && openBrowser(address)
      output.err(`${isOpened ? 'The browser shows the login. If it does not, open' : 'Open'} this address:\n\n  ${address.href}\n\n`)
      output.err('Waiting. If the browser is on another machine, paste here the address it ended at.\n')
      lines.on('line', (line) => {
        if (line.trim() !== '' && !paste(line)) output.err('That is not the address. It begins with http://127.0.0.1.\n')
      })
    },
    [Symbol.dispose]() {
      lines.close()
      interrupt.dispose()
    },
  }
}
