/** `1 request`, `2 requests`. */
export const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
