/** `mulligan mcp resolve` lists the calls that may have taken effect, and allows one to be made again. */
import { join } from 'node:path'
import { oneLine, UsageError } from '@mulligan/host/light'
import { openJournal } from '@mulligan/mcp'
import { openDataDir } from '../../paths.ts'
import { EXIT } from '../../process.ts'
import type { Output } from '../../ui/output.ts'
import { localTime, print, table } from '../../ui/text.ts'

/** @throws UsageError */
export async function resolveCommand(
  id: string | undefined,
  { json = false }: { readonly json?: boolean },
  output: Output,
): Promise<number> {
  const journal = openJournal(join(openDataDir().dir, 'mcp-calls.db'))
  try {
    const calls = journal.all()
    if (id === undefined) {
      const rows = calls.map((call) => [String(call.id), localTime(call.at), call.tool, oneLine(call.input, 60), oneLine(call.server, 40)])
      print(
        output,
        json,
        { calls },
        rows.length === 0 ? ['There are no indeterminate calls.'] : table([['ID', 'WHEN', 'TOOL', 'ARGUMENTS', 'SERVER'], ...rows]),
      )
      return EXIT.ok
    }
    const call = calls.find((one) => String(one.id) === id)
    if (!call)
      throw new UsageError(
        `no call with the id ${JSON.stringify(oneLine(id, 20))} is indeterminate`,
        'mulligan mcp resolve lists such calls.',
      )
    journal.settle(call.id)
    print(output, json, { resolved: call }, [`${call.tool} may be called with these arguments again.`])
    return EXIT.ok
  } finally {
    journal.close()
  }
}
