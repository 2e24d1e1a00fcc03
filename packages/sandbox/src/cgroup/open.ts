/** The strongest confinement there is here. */
import type { Limits } from '../limits.ts'
import { openCgroup } from './cgroup.ts'
import type { Confinement } from './confinement.ts'
import { openSystemd } from './systemd.ts'
import { openWatch } from './watch.ts'

/** It is tried for real. Never fails: what can't be held is said in `enforces`. */
export async function openConfinement(
  limits: Limits,
  hostEnv: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Confinement> {
  return (await openCgroup(limits)) ?? (await openSystemd(limits, hostEnv)) ?? openWatch(limits.memory)
}
