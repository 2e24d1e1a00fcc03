/** Nemotron v2: `<TOOLCALL>[…]</TOOLCALL>`, and the token that ends its turn. */
import type { Family } from '../family.ts'
import { jsonBetween } from '../syntax/json-between.ts'

export const nemotron: Family = jsonBetween({
  id: 'nemotron',
  openers: ['<TOOLCALL>'],
  closers: ['</TOOLCALL>'],
  trailing: ['<SPECIAL_12>'],
})
