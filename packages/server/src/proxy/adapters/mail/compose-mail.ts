import { hash } from 'node:crypto'
import type { WriteFile } from '../../../ports/service-adapter.ts'
import type { OutgoingMail } from './outgoing.ts'

/** The bytes that travel: CRLF throughout, no line too long, no Bcc. The same for each attempt. */
export const composeMail = async (
  mail: OutgoingMail,
  files: readonly WriteFile[],
): Promise<Buffer> => {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const composer = new MailComposer({
    messageId: mail.message_id,
    date: new Date(mail.date),
    from: mail.from,
    to: mail.to,
    cc: mail.cc,
    bcc: mail.bcc,
    subject: mail.subject,
    text: mail.text,
    ...(mail.html === null ? {} : { html: mail.html }),
    ...(mail.in_reply_to === null ? {} : { inReplyTo: mail.in_reply_to }),
    ...(mail.references.length > 0 ? { references: mail.references } : {}),
    attachments: files.map(({ name, content_type, bytes }) => ({
      filename: name,
      contentType: content_type,
      content: Buffer.from(bytes),
    })),
    // A dot or half a line end in a text is then a few letters, whatever servers on the way make of it.
    textEncoding: 'quoted-printable',
    baseBoundary: hash('sha256', mail.message_id).slice(0, 32),
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return composer.compile().build()
}

/** The same with the blind copies, for the sender's own folder. */
export const withBlindCopies = ({ bcc }: OutgoingMail, raw: Buffer): Buffer =>
  bcc.length === 0
    ? raw
    : Buffer.concat([Buffer.from(`Bcc: ${bcc.join(',\r\n ')}\r\n`, 'latin1'), raw])
