/** The assistant's tools. */

export { memoryValues, type SessionValues } from './common/pages.ts'
export { type GoogleAuth, type GoogleOptions, googleTools } from './google/index.ts'
export { type SlackOptions, slackTools } from './slack/index.ts'
