/** Environment variables of one workspace. Nothing in this package reads the variables of the process. */
export type Env = Readonly<Record<string, string | undefined>>
