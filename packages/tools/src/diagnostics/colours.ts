/** Colours, links and movements of a terminal. Node's own `stripVTControlCharacters` takes quadratic time on links that do not end. */
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g

export const withoutColours = (text: string): string => text.replace(SEQUENCE, '')
