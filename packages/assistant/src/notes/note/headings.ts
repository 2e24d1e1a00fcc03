/** The headings of a note, and the sections below them. Pure. */
import { frontMatterOf } from './front-matter.ts'
import { maskCode } from './mask.ts'

export interface Heading {
  readonly level: number
  readonly text: string
  readonly at: number
}

export function headingsOf(text: string): readonly Heading[] {
  const { start } = frontMatterOf(text)
  return [...maskCode(text.slice(start)).matchAll(/^(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*\r?$/gm)].map(({ index, 1: marks = '', 0: line }) => ({
    level: marks.length,
    text: text
      .slice(start + index, start + index + line.length)
      .replace(/^#+[ \t]+/, '')
      .replace(/[ \t]*#*[ \t]*\r?$/, ''),
    at: start + index,
  }))
}

/** Returns the section of a heading: up to the next one of the same or a higher level. */
export function sectionOf(text: string, heading: string): { readonly from: number; readonly to: number } | undefined {
  const all = headingsOf(text)
  const wanted = heading.trim().toLowerCase()
  const at = all.findIndex((one) => one.text.toLowerCase() === wanted)
  const found = all[at]
  if (!found) return undefined
  const next = all.slice(at + 1).find(({ level }) => level <= found.level)
  return { from: found.at, to: next?.at ?? text.length }
}
