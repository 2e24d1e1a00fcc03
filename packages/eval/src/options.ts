/** What an eval is opened with, from which all else follows. */
import type { Env, Notice } from '@mulligan/host'
import type { BackendName } from '@mulligan/sandbox'

/** Which model is measured, on what. No setting, rule, agent or instruction of the folder counts but those that name the model. */
export interface EvalOptions {
  /** The folder whose configuration names the model, as an absolute path. The runs have folders of their own. */
  readonly cwd: string
  /** All variables that count: `MULLIGAN_…`, keys of clouds, and `HOME`, where the user's own files are. Those of the process don't. */
  readonly env: Env
  /** Of the program, for the report. A file is resumed only by the version that began it. */
  readonly version: string
  /** `provider/name`. Default: the one that a run would take. */
  readonly model?: string | undefined
  /** The address of its server. Default: as configured. */
  readonly baseUrl?: string | undefined
  /** Tokens that it takes at once. Default: as configured. */
  readonly context?: number | undefined
  /** Its output begins inside the thinking, and the server leaves it in. Default: false. */
  readonly opensInReasoning?: boolean | undefined
  /** Of `bare`, `repair` and `full`. Default: all. */
  readonly arms?: readonly string[] | undefined
  /** Ids, as {@link evalTasks} lists them. Default: all. */
  readonly tasks?: readonly string[] | undefined
  /** How often each task is done in each arm. Default: 1. */
  readonly runs?: number | undefined
  /** Of the order of the runs and of the bootstrap. Default: 1. */
  readonly seed?: number | undefined
  /** Model requests of a run. Default: 20. */
  readonly maxRequests?: number | undefined
  /** Seconds of a run. Default: 300. */
  readonly timeout?: number | undefined
  /** Where commands run; `none` is no sandbox at all. Default: `auto`, the first that works, and without one no tools for commands. */
  readonly sandbox?: 'auto' | BackendName | undefined
  /** Path of a new file that each run is written to as soon as it is over. Default: none. */
  readonly jsonl?: string | undefined
  /** Path of such a file, to continue; `jsonl` is left out then. */
  readonly resume?: string | undefined
  /** Is given which model it is, and settings of the folder that are left out. Default: nobody is. */
  readonly report?: ((notice: Notice) => void) | undefined
}
