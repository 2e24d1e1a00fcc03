/** `mulligan acp` serves an editor over the Agent Client Protocol, on stdin and stdout. */
import { Readable } from 'node:stream'
import { serveEditor } from '@mulligan/acp'
import { oneLine } from '@mulligan/host/light'
import type { ChoiceFlags } from '@mulligan/host/parts'
import { version } from '../paths.ts'
import { catchUnhandled } from '../ports.ts'
import { EXIT, ownCodeIn, watchInterrupts } from '../process.ts'
import type { Output } from '../ui/output.ts'

/** @returns 0 when the editor has gone */
export async function acpCommand(flags: ChoiceFlags, output: Output): Promise<number> {
  const unwatch = catchUnhandled(output)
  const decoder = new TextDecoder()
  const server = serveEditor({
    input: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    output: new WritableStream({ write: (bytes) => output.out(decoder.decode(bytes, { stream: true })) }),
    ...{ version: version(), env: process.env, flags, aroundOwnCode: ownCodeIn },
    tell: (line) => output.err(`mulligan: ${oneLine(line, 1000)}\n`),
  })
  const interrupt = watchInterrupts(server.close)
  output.closed.addEventListener('abort', server.close)
  await server.closed
  interrupt.dispose()
  unwatch()
  return EXIT.ok
}
