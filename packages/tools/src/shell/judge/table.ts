/** What a table holds under a name that comes from outside: `constructor` is in no table. */
export const entry = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
