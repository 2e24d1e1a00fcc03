/** A mailbox: Gmail, or any server with IMAP and SMTP. */
export interface MailSummary {
  readonly id: string
  readonly from: string
  readonly subject: string
  /** ISO 8601. */
  readonly date: string
  readonly unread: boolean
  /** The beginning of the text. */
  readonly snippet: string
}

export interface Mail extends MailSummary {
  readonly to: string
  readonly cc: string
  readonly text: string
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly bytes: number }[]
}

export interface NewMail {
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly subject: string
  readonly body: string
  /** The id of the message that is answered. */
  readonly replyTo?: string | undefined
}

export interface Draft {
  readonly id: string
  /** Changes when the draft is edited. */
  readonly version: string
  /** The conversation, by which it is found once it was sent. */
  readonly thread: string
  readonly to: string
  readonly cc: string
  readonly bcc: string
  readonly subject: string
  readonly body: string
  /** Names of attached files. */
  readonly attachments: readonly string[]
}

export interface MailQuery {
  readonly limit: number
  /** Default: the inbox, latest first. */
  readonly query?: string | undefined
  /** From the page before. */
  readonly token?: string | undefined
}

export interface MailPage {
  readonly messages: readonly MailSummary[]
  /** For the next page, if there is one. */
  readonly next?: string | undefined
  /** What was left out, as a sentence. */
  readonly note?: string | undefined
}

export interface Sent {
  /** Recipients that the server did not accept. */
  readonly rejected: readonly string[]
}

export interface Mailbox {
  /** For messages, such as `Gmail`. */
  readonly name: string
  readonly list: (signal: AbortSignal, query: MailQuery) => Promise<MailPage>
  /** @throws ModelRetry if there is no such message */
  readonly read: (signal: AbortSignal, id: string) => Promise<Mail>
  /** Saves a draft. @param mark identifies the call; {@link findDraft} finds the draft by it. @returns its id */
  readonly saveDraft: (signal: AbortSignal, mail: NewMail, mark: string) => Promise<string>
  readonly findDraft: (signal: AbortSignal, mark: string) => Promise<string | undefined>
  /** Undefined if there is no such draft. */
  readonly draft: (signal: AbortSignal, id: string) => Promise<Draft | undefined>
  readonly drafts: (signal: AbortSignal) => Promise<readonly { readonly id: string; readonly subject: string }[]>
  /**
   * Sends a draft, which then no longer exists. A draft is sent once, however often this is called. Returns false if there is no such draft.
   *
   * @throws UnknownOutcome if it may have been sent
   */
  readonly sendDraft: (signal: AbortSignal, draft: Draft) => Promise<Sent | false>
  /** Returns whether a draft that no longer exists was sent; undefined if that can't be known. */
  readonly wasSent: (signal: AbortSignal, id: string) => Promise<boolean | undefined>
}
