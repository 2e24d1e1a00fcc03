/** The assistant's tools. */
export { type AssistantOptions, assistantTools, googlePlaces, type Service } from './assistant.ts'

export { checkServices, type ServiceCheck } from './check.ts'
export { memoryValues, type SessionValues } from './common/pages.ts'
export type { SecretOptions, SecretPlace } from './common/secrets.ts'
export {
  type CredentialPlaces,
  type GoogleEndpoints,
  type GoogleLogin,
  type GoogleSource,
  googleCredentials,
  googleSource,
  readLogin,
  SCOPES as GOOGLE_SCOPES,
} from './google/credentials.ts'
export { type GoogleAuth, type GoogleOptions, googleTools } from './google/index.ts'
export { LoginFailed, type LoginOptions, loginToGoogle, logoutOfGoogle, type OAuthClient } from './google/login.ts'
export {
  accountOf,
  checkMail,
  type ImapOptions,
  imapTools,
  type MailAccount,
  type MailSettings,
  mailPassword,
  type PasswordPlaces,
  removePassword,
  savePassword,
} from './mail/imap/index.ts'
export { type NotesOptions, type NotesTools, notesTools } from './notes/index.ts'
export { type SlackOptions, slackTools } from './slack/index.ts'
