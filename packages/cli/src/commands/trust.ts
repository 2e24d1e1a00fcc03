/**
 * `mulligan trust` shows a folder's tools and settings and makes them effective once approved. Also lists what is trusted, and revokes it.
 */

import { oneLine, safeJson, TOOLS_FOLDER, UsageError } from '@mulligan/host/light'
import { changeTrust, projectOf, readAgents, readSettings, readTrust, trust, type Wanted, wantedIn } from '@mulligan/host/parts'
import { fromHome, workingFolder } from '../paths.ts'
import { EXIT, endProcess } from '../process.ts'
import { listed } from '../trust.ts'
import { askInTerminal, isAttendedFor, isConfirmed } from '../ui/ask.ts'
import type { Output } from '../ui/output.ts'
import { type FolderFlags, print } from '../ui/text.ts'

export interface TrustFlags extends FolderFlags {
  readonly yes?: boolean
  readonly list?: boolean
  readonly remove?: boolean
}

/** @returns 1 if the user declines, or there is nothing to revoke. @throws UsageError */
export async function trustCommand(flags: TrustFlags, output: Output): Promise<number> {
  const cwd = workingFolder(flags.cwd)
  if (flags.list) return listTrusted(cwd, flags, output)
  if (flags.remove) return removeTrust(cwd, flags, output)
  const settings = readSettings(cwd, {}, process.env)
  const wanted = wantedIn(cwd, { settings, agents: await readAgents(cwd, settings, process.env) }, process.env)
  const { out } = output
  const say = (trusted: boolean, line: string): void => {
    const settings = wanted.settings.map(({ key, value }) => ({ key, value }))
    print(output, flags.json, { folder: cwd, trusted, tools: wanted.tools?.found.files ?? [], settings }, [line])
  }
  if (!wanted.tools && wanted.settings.length === 0) {
    say(true, 'Nothing here needs your approval.')
    return EXIT.ok
  }
  if (!flags.json) out(`${[`In ${oneLine(fromHome(cwd), 400)}:`, ...listed(wanted)].join('\n')}\n`)
  const isYes = flags.yes === true || (await isTrusted(wanted, flags))
  if (isYes) await trust(wanted, process.env)
  say(isYes, isYes ? 'Trusted. mulligan trust --remove revokes it.' : 'Not trusted.')
  return isYes ? EXIT.ok : EXIT.failed
}

/** @throws UsageError if there is no user to ask */
async function isTrusted(wanted: Wanted, flags: TrustFlags): Promise<boolean> {
  if (!isAttendedFor(flags))
    throw new UsageError(
      `trust needs confirmation, but nobody is there to confirm:\n${listed(wanted).join('\n')}`,
      'In a script: mulligan trust --yes',
    )
  return isConfirmed(
    askInTerminal(() => endProcess(EXIT.cancelled)),
    'Trust it? [y/N] ',
  )
}

function listTrusted(cwd: string, { json }: TrustFlags, output: Output): number {
  const { folders, problem } = readTrust(cwd, process.env)
  if (problem !== undefined) output.err(`${oneLine(problem, 400)}\n`)
  const all = Object.entries(folders).map(([folder, { tools, settings }]) => ({ folder, tools: tools !== undefined, settings }))
  const lines = all.flatMap(({ folder, tools, settings }) => [
    oneLine(fromHome(folder), 400),
    ...(tools ? [`  ${TOOLS_FOLDER}`] : []),
    ...settings.map(({ key, value }) => `  ${oneLine(`${key} ${safeJson(value)}`, 400)}`),
  ])
  print(output, json, { folders: all }, all.length === 0 ? ['No folder is trusted.'] : lines)
  return EXIT.ok
}

async function removeTrust(cwd: string, { json }: TrustFlags, output: Output): Promise<number> {
  const gone = new Set([cwd, projectOf(readSettings(cwd, {}, process.env), cwd)])
  const wasTrusted = [...gone].some((folder) => readTrust(cwd, process.env).folders[folder] !== undefined)
  if (wasTrusted)
    await changeTrust(cwd, (folders) => Object.fromEntries(Object.entries(folders).filter(([folder]) => !gone.has(folder))), process.env)
  print(output, json, { folder: cwd, removed: wasTrusted }, [wasTrusted ? 'No longer trusted.' : 'It was not trusted.'])
  return wasTrusted ? EXIT.ok : EXIT.failed
}
