/** Collects all checks, for any backend. */
import { BEHAVIOUR } from './behaviour.fixture.ts'
import type { Check } from './check.fixture.ts'
import { REACHES } from './reach.fixture.ts'
import { RESOURCES } from './resources.fixture.ts'
import { SERVERS } from './servers.fixture.ts'

export const CHECKS: readonly Check[] = [...REACHES, ...BEHAVIOUR, ...SERVERS, ...RESOURCES]
