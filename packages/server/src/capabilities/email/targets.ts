import type { Preview } from '@gatehouse/contract'
import { shownPerson } from '../../domain/mail/answers.ts'
import type { AgentService } from '../../ports/agent-services.ts'
import type { JsonObject } from '../../ports/json.ts'
import { type FoundMail, findMail } from './mailbox.ts'

/** The messages that are meant, each once. */
export const findMails = async (
  service: AgentService,
  ids: readonly string[],
): Promise<readonly FoundMail[]> => {
  const found = new Map<string, FoundMail>()
  for (const id of ids) {
    const mail = await findMail(service, id)
    found.set(mail.message.ref, mail)
  }
  return [...found.values()]
}

/** A message as a write names it: found again only while it lies there and is the same. */
export const targetOf = ({ message, folder }: FoundMail): JsonObject => ({
  ref: message.ref,
  folder,
  uidvalidity: message.uidvalidity,
  uid: message.uid,
  fingerprint: message.fingerprint,
  message_id: message.message_id,
  subject: message.subject,
})

/** One line a message: where it is, from whom, what it is called. */
const shown = ({ message, folder }: FoundMail): string =>
  `${folder}: "${message.subject}" from ${message.from ? shownPerson(message.from) : 'nobody'}`

export const targetsPreview = (what: string, found: readonly FoundMail[]): Preview => ({
  kind: 'command',
  text: [`${what}:`, ...found.map(shown)].join('\n'),
})

export const targetsBinding = (service: AgentService, found: readonly FoundMail[]) => ({
  service: service.name,
  messages: found.map(({ message, folder }) => ({ ref: message.ref, folder })),
})
