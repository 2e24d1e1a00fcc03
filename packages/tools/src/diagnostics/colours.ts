/** Terminal colours, links and cursor movements. Node's own `stripVTControlCharacters` takes quadratic time on unterminated links. */
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g

export const withoutColours = (text: string): string => text.replace(SEQUENCE, '')
