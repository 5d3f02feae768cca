import type { ImapFlow } from 'imapflow'
import type { MailAccount } from './mail-account.ts'
import { openImap } from './open-imap.ts'

export const inbox = 'INBOX'
const news = ['exists', 'expunge', 'flags'] as const

/** Two numbers that stay equal only while no message came or went. */
export const standing = (uidnext: number, messages: number): string => `${uidnext}:${messages}`

const listen = async (account: MailAccount, client: ImapFlow, hear: () => void): Promise<void> => {
  account.canListen = client.capabilities.has('IDLE')
  if (!account.canListen) return
  const { uidNext, exists } = await client.mailboxOpen(inbox, { readOnly: true })
  for (const event of news) client.on(event, hear)
  // Changes between the last sync and now were announced to nobody.
  if (standing(uidNext, exists) !== account.inboxStood) hear()
  // Waiting is broken off now and then, to see whether the server is still there.
  while (client.state === client.states.SELECTED && (await client.idle()) !== false);
}

/**
 * Lets the server say that something changed where mail arrives (IDLE, RFC 2177), on a connection of its own.
 * Ends at once with a server that cannot, and when the server ends it.
 */
export async function listenForMail(
  account: MailAccount,
  hear: () => void,
  signal: AbortSignal,
): Promise<void> {
  if (!account.canListen) return
  let client: ImapFlow | null = null
  const leave = () => client?.close()
  signal.addEventListener('abort', leave, { once: true })
  try {
    client = await openImap(account.connection, account.settings, account.timeouts, signal)
    signal.throwIfAborted()
    await listen(account, client, hear)
  } catch (error) {
    // Closed by us, in the middle of whatever it was.
    if (!signal.aborted) throw account.unavailable(error)
  } finally {
    signal.removeEventListener('abort', leave)
    client?.close()
  }
}
