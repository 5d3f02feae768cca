import { GatehouseError } from '@gatehouse/contract'
import {
  contentKeyOfRef,
  foldersCollection,
  type MailFolderFacts,
  type MailMessage,
} from '../../domain/mail/message.ts'
import type { AgentService, AgentServices } from '../../ports/agent-services.ts'
import type { FoundEntry } from '../../ports/replica.ts'

/** A message and where it lies. */
export type FoundMail = {
  readonly message: MailMessage
  readonly folder: string
  readonly id: string
  readonly flags: readonly string[]
  readonly size_bytes: number
}

export const mailOf = ({ collection, id, flags, size_bytes, body }: FoundEntry): FoundMail => ({
  // Written by the adapter of this very program, which satisfies the type.
  message: body as unknown as MailMessage,
  folder: collection,
  id,
  flags,
  size_bytes,
})

/** The folders there are; empty before the first sync. */
export const foldersOf = async (service: AgentService): Promise<readonly MailFolderFacts[]> => {
  const entry = await service.find({ collection: foldersCollection, id: 'folders' })
  return (entry?.body['folders'] ?? []) as unknown as readonly MailFolderFacts[]
}

/**
 * The message that an agent means: the one with this very id, or, where it has been moved since, the only
 * one of the same content.
 */
export const findMail = async (service: AgentService, message_id: string): Promise<FoundMail> => {
  const [exact] = await service.findByKey(message_id)
  const key = contentKeyOfRef(message_id)
  if (exact && key !== null) return mailOf(exact)
  const copies = key === null ? [] : await service.findByKey(key)
  const [only, ...others] = copies
  if (!only) throw new GatehouseError('MailNotFound', { message_id })
  if (others.length > 0)
    throw new GatehouseError('MailAmbiguous', {
      message_id,
      folders: [...new Set(copies.map(({ collection }) => collection))].join(', '),
    })
  return mailOf(only)
}

export const openMailbox = (services: AgentServices, name?: string): Promise<AgentService> =>
  services.open('mail', name)

export const freshnessOf = ({ name, freshness }: AgentService) => ({
  name,
  status: freshness.status,
  last_sync: freshness.last_sync,
})

/** When it was sent, as its sender claims, or else when it came. */
export const sentAt = ({ date, received_ms }: MailMessage): string =>
  date ?? new Date(received_ms).toISOString()
