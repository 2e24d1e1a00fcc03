/** Writes a message in the format of mail (RFC 5322). */
import type { NewMail } from './mailbox.ts'

/** What a reply takes from the message that it answers. */
export interface Answered {
  readonly messageId: string
  readonly references: string
}

/** @param messageId without angle brackets; also marks the call */
export async function compose(mail: NewMail, messageId: string, answered?: Answered, from?: string): Promise<Buffer> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const references = answered && [...answered.references.split(/\s+/), answered.messageId].filter((one) => one !== '')
  return new MailComposer({
    ...(from !== undefined && { from }),
    to: [...mail.to],
    cc: [...mail.cc],
    subject: mail.subject,
    text: mail.body,
    messageId: `<${messageId}>`,
    ...(answered && { inReplyTo: answered.messageId, references }),
    // Message texts come from a model: no file and no address of theirs is opened.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
}

/** The message id of a marked draft. */
export const markedId = (mark: string): string => `${mark}@mulligan.invalid`
