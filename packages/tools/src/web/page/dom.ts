/** The little of a document that is needed here: the types of browsers would be in reach of the whole program. */
export interface PageElement {
  readonly localName: string
  readonly innerHTML: string
  readonly textContent: string
  readonly remove: () => void
  readonly getAttribute: (name: string) => string | null
  readonly getAttributeNames: () => readonly string[]
  readonly setAttribute: (name: string, value: string) => void
  readonly removeAttribute: (name: string) => void
  readonly cloneNode: (deep: boolean) => PageElement
  readonly querySelector: (selector: string) => PageElement | null
  readonly querySelectorAll: (selector: string) => Iterable<PageElement> & { readonly length: number }
}

export interface PageDocument extends PageElement {
  readonly documentElement: PageElement
  readonly head: PageElement
  readonly body: PageElement
}
