import type { Store } from './store.ts'

/** A store that keeps no intents, so that a call which was cut off looks as if it had not begun. */
export const withoutIntents = (store: Store): Store => ({
  ...store,
  append: (events, durable) =>
    store.append(
      events.filter(({ type }) => type !== 'tool.started'),
      durable,
    ),
})
