/** `mulligan trust`: lets a folder's tools and settings count, after showing what they are; lists what is trusted, and takes it back. */

import { oneLine, safeJson, TOOLS_FOLDER, UsageError } from '@mulligan/host/light'
import { changeTrust, projectOf, readAgents, readSettings, readTrust, trust, type Wanted, wantedIn } from '@mulligan/host/parts'
import { EXIT } from '../exit.ts'
import { endProcess } from '../own-code.ts'
import { fromHome, workingFolder } from '../paths.ts'
import { isAttendedFor, listed } from '../trust.ts'
import { askInTerminal } from '../ui/ask.ts'
import type { Output } from '../ui/output.ts'

export interface TrustFlags {
  readonly cwd?: string
  readonly json?: boolean
  readonly yes?: boolean
  readonly list?: boolean
  readonly remove?: boolean
}

/** @returns 1 where the person says no, or there is nothing to take back. @throws UsageError */
export async function trustCommand(flags: TrustFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  if (flags.list) return listTrusted(cwd, flags, output)
  if (flags.remove) return removeTrust(cwd, flags, output)
  const settings = readSettings(cwd, {}, process.env)
  const wanted = wantedIn(cwd, { settings, agents: await readAgents(cwd, settings, process.env) }, process.env)
  const { out } = output
  const said = (trusted: boolean): string =>
    safeJson({
      folder: cwd,
      trusted,
      tools: wanted.tools?.found.files ?? [],
      settings: wanted.settings.map(({ key, value }) => ({ key, value })),
    }) ?? ''
  if (!wanted.tools && wanted.settings.length === 0) {
    out(flags.json ? `${said(true)}\n` : 'Nothing here waits for your word.\n')
    return EXIT.ok
  }
  if (!flags.json) out(`${[`In ${oneLine(fromHome(cwd), 400)}:`, ...listed(wanted)].join('\n')}\n`)
  const isYes = flags.yes === true || (await isTrusted(wanted, flags))
  if (isYes) await trust(wanted, process.env)
  out(flags.json ? `${said(isYes)}\n` : `${isYes ? 'Trusted. mulligan trust --remove takes it back.' : 'Not trusted.'}\n`)
  return isYes ? EXIT.ok : EXIT.failed
}

/** @throws UsageError where nobody is there */
async function isTrusted(wanted: Wanted, flags: TrustFlags): Promise<boolean> {
  if (!isAttendedFor(flags))
    throw new UsageError(`nobody is there to confirm trust in:\n${listed(wanted).join('\n')}`, 'In a script: mulligan trust --yes')
  const answer = await askInTerminal(() => endProcess(EXIT.cancelled))('Trust it? [y/N] ', new AbortController().signal)
  return /^y(?:es)?$/i.test(answer?.trim() ?? '')
}

function listTrusted(cwd: string, { json }: TrustFlags, { out, err }: Output): number {
  const { folders, problem } = readTrust(cwd, process.env)
  if (problem !== undefined) err(`${oneLine(problem, 400)}\n`)
  const all = Object.entries(folders).map(([folder, { tools, settings }]) => ({ folder, tools: tools !== undefined, settings }))
  if (json) out(`${safeJson({ folders: all })}\n`)
  else if (all.length === 0) out('No folder is trusted.\n')
  else
    for (const { folder, tools, settings } of all) {
      out(`${oneLine(fromHome(folder), 400)}\n`)
      if (tools) out(`  ${TOOLS_FOLDER}\n`)
      for (const { key, value } of settings) out(`  ${oneLine(`${key} ${safeJson(value)}`, 400)}\n`)
    }
  return EXIT.ok
}

async function removeTrust(cwd: string, { json }: TrustFlags, { out }: Output): Promise<number> {
  const gone = new Set([cwd, projectOf(readSettings(cwd, {}, process.env), cwd)])
  const wasTrusted = [...gone].some((folder) => readTrust(cwd, process.env).folders[folder] !== undefined)
  if (wasTrusted)
    await changeTrust(cwd, (folders) => Object.fromEntries(Object.entries(folders).filter(([folder]) => !gone.has(folder))), process.env)
  out(json ? `${safeJson({ folder: cwd, removed: wasTrusted })}\n` : `${wasTrusted ? 'Not trusted any more.' : 'It was not trusted.'}\n`)
  return wasTrusted ? EXIT.ok : EXIT.failed
}
