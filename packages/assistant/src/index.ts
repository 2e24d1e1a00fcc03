/** The assistant's tools. */

export { memoryValues, type SessionValues } from './common/pages.ts'
export { type SlackOptions, slackTools } from './slack/index.ts'
