import type { ImapFlow } from 'imapflow'
import type { ReplicaChange } from '../../../ports/replica.ts'
import { fetchMessages } from './fetch-messages.ts'
import type { MailAccount } from './mail-account.ts'

/**
 * The entries of messages that a write has just changed, so that the next read shows it. Nothing if it
 * fails: the write took place, and the next sync brings the same.
 */
export const refreshEntries = async (
  account: MailAccount,
  client: ImapFlow,
  uids: readonly number[],
): Promise<ReplicaChange[]> => {
  const { mailbox } = client
  if (!mailbox || uids.length === 0) return []
  try {
    const entries = await fetchMessages(
      {
        client,
        reader: account.reader,
        folder: mailbox.path,
        uidvalidity: `${mailbox.uidValidity}`,
      },
      uids,
    )
    return entries.map((entry) => ({ kind: 'put', entry }))
  } catch {
    return []
  }
}
