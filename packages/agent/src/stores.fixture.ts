/** Runs tests on each store. */
import { beforeEach, describe } from 'vitest'
import { STORES, stores } from './agent.fixture.ts'

/** Like `describe`, once for each store that `stores.open` opens. */
export function onStores(title: string, tests: () => void): void {
  describe.each(STORES)(`${title}, in %s`, (_, open) => {
    beforeEach(() => {
      stores.open = open
    })
    tests()
  })
}
