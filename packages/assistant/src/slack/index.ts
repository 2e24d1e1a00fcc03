/** The Slack tools. */
import type { Tool } from '@mulligan/core'
import { memoryValues, type SessionValues } from '../common/pages.ts'
import { type SlackOptions, slackClient } from './client.ts'
import { slackDirectory } from './directory.ts'
import { listSlackChannels, listSlackUsers } from './lists.ts'
import { getSlackChannelHistory, getSlackThreadReplies } from './messages.ts'
import { postSlackMessage } from './post.ts'

export type { SlackOptions } from './client.ts'

/** Creates the Slack tools. Slack is first contacted by a call. @param values where page tokens are kept. Default: in memory */
export function slackTools(options: SlackOptions = {}, values: SessionValues = memoryValues()): Tool[] {
  const call = slackClient(options)
  const directory = slackDirectory(call)
  const reads = { call, directory, values }
  return [
    postSlackMessage(call, directory),
    listSlackChannels(directory),
    getSlackChannelHistory(reads),
    getSlackThreadReplies(reads),
    listSlackUsers(directory),
  ]
}
