/** Runs the checks on Docker: as root in a workspace of root's and in one of a user's. */
import { containerChecks } from './container-checks.fixture.ts'

await containerChecks('docker')
