/** Environment variables of one workspace. Nothing here reads those of the process. */
export type Env = Readonly<Record<string, string | undefined>>
