/**
 * Returns random digits and lower-case letters, to tell things apart. They can be guessed: what has to be secret comes from `node:crypto`,
 * whose loading adds 8 ms to a start.
 * @param length at most 10
 */
export const randomLetters = (length: number): string =>
  Math.floor(Math.random() * 36 ** length)
    .toString(36)
    .padStart(length, '0')
