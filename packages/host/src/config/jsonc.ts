/** JSON with comments (`//` and `/* *\/`) and commas before a closing bracket, as people write it by hand. */

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string }

/** A string, so that nothing in it is taken for more. What has no end goes on to its line's, or the file's: read once, in linear time. */
const STRING = /"(?:[^"\\\n]|\\.)*"?/.source
const COMMENTS = new RegExp(`${STRING}|//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)`, 'g')
const LAST_COMMAS = new RegExp(`${STRING}|,(?=\\s*[}\\]])`, 'g')

export function parseJsonc(text: string): Parsed {
  const bare = text.replace(/^\ufeff/, '')
  // What is taken out leaves as much space, so that lines and columns of an error are those of the file.
  const json = bare.replace(COMMENTS, blank).replace(LAST_COMMAS, blank)
  if (json.trim() === '') return { ok: true, value: {} }
  try {
    return { ok: true, value: JSON.parse(json) }
  } catch (error) {
    return { ok: false, error: (error as Error).message }
  }
}

const blank = (part: string): string => (part.startsWith('"') ? part : part.replace(/[^\n]/g, ' '))
