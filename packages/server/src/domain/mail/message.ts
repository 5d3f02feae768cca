/** The collection of a mailbox's replica that tells of its folders; no mail folder can be called so. */
export const foldersCollection = 'folders\n'

export type MailPerson = { readonly name: string; readonly address: string }

/** A folder as the replica tells it. */
export type MailFolderFacts = {
  readonly path: string
  /** `inbox`, `sent`, `drafts`, `trash`, `junk`, `archive`, `all`, `flagged`; null for any other. */
  readonly use: string | null
  readonly messages: number
  readonly unseen: number
}

export type MailAttachment = {
  /** Part that an attachment is fetched by; empty where the server cannot say. */
  readonly part: string
  readonly name: string
  readonly content_type: string
  readonly size_bytes: number
  readonly inline: boolean
}

/** Message in the replica: as strangers wrote it, cut to limits, in plain words. */
export type MailMessage = {
  /** Name for agents. */
  readonly ref: string
  readonly fingerprint: string
  readonly uid: number
  readonly uidvalidity: string
  readonly message_id: string | null
  readonly references: readonly string[]
  readonly subject: string
  readonly from: MailPerson | null
  readonly to: readonly MailPerson[]
  readonly cc: readonly MailPerson[]
  readonly bcc: readonly MailPerson[]
  readonly reply_to: readonly MailPerson[]
  /** As the sender claims. */
  readonly date: string | null
  /** When the server took it. */
  readonly received_ms: number
  readonly text: string
  readonly text_from_html: boolean
  readonly html: string | null
  readonly imap_flags: readonly string[]
  readonly attachments: readonly MailAttachment[]
  readonly attachments_total: number
  /** Whether there is more of it than is held here. */
  readonly truncated: boolean
  /** Whether something of it could not be read. */
  readonly damaged: boolean
}

/** The key by which every copy of a message is found, from what an agent knows it by; null for what is none. */
export const contentKeyOfRef = (ref: string): string | null => {
  const fingerprint = /^mail-([0-9a-f]{24})-[0-9a-f]{8}-\d+$/.exec(ref)?.[1]
  return fingerprint === undefined ? null : `content:${fingerprint}`
}
