/** Opens an address in the person's browser. */
import { resolveProgram, startProgram } from '@mulligan/sandbox'

/** Programs that open a browser. The address is an argument of its own, which no shell reads. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
}

/** @returns false if there is no browser */
export function openBrowser(address: URL): boolean {
  const [name = '', ...args] = OPENERS[process.platform] ?? []
  const hasScreen = process.platform !== 'linux' || process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']
  const program = hasScreen ? resolveProgram(name) : undefined
  if (program === undefined) return false
  const child = startProgram(program, [...args, address.href], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
  return true
}
