/** Keeps the access token of this tab. It arrives in the URL's fragment, which is never sent to a server, and is removed from there at once. */
const KEY = 'mulligan.token'

export function takeToken(): string | undefined {
  const [, found] = /[#&]token=([^&]+)/.exec(location.hash) ?? []
  if (found !== undefined) {
    setToken(decodeURIComponent(found))
    history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  }
  return sessionStorage.getItem(KEY) ?? undefined
}

export const setToken = (token: string): void => sessionStorage.setItem(KEY, token)
export const dropToken = (): void => sessionStorage.removeItem(KEY)
