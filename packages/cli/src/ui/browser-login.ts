/** A login in the browser, which may run on another machine than mulligan. */
import { createInterface } from 'node:readline'
import { openBrowser } from './open-browser.ts'
import type { Output } from './output.ts'

export interface BrowserLogin extends Disposable {
  /** @param paste takes an address that the person pastes. Returns whether it is the answer */
  readonly show: (address: URL, paste: (text: string) => boolean) => void
}

/** @param opens whether to open the browser. Reads from stdin until it is disposed. */
export function browserLogin(opens: boolean, output: Output): BrowserLogin {
  const lines = createInterface({ input: process.stdin })
  return {
    show(address, paste) {
      const isOpened = opens && openBrowser(address)
      output.err(`${isOpened ? 'The browser shows the login. If it does not, open' : 'Open'} this address:\n\n  ${address.href}\n\n`)
      output.err('Waiting. If the browser is on another machine, paste here the address it ended at.\n')
      lines.on('line', (line) => {
        if (line.trim() !== '' && !paste(line)) output.err('That is not the address. It begins with http://127.0.0.1.\n')
      })
    },
    [Symbol.dispose]: () => lines.close(),
  }
}
