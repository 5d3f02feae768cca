import { GatehouseError } from '@gatehouse/contract'
import type { FetchedPart } from '../../../ports/service-adapter.ts'
import type { MailAccount } from './mail-account.ts'
import { outlineOf } from './structure.ts'

type Wanted = {
  readonly collection: string
  readonly id: string
  readonly part: string
  readonly bytesMax: number
}

/** Decoded as it comes; ends with an error once it is longer than was asked for. Nothing is unpacked. */
export const fetchAttachment = async (
  account: MailAccount,
  { collection, id, part, bytesMax }: Wanted,
  signal: AbortSignal,
): Promise<FetchedPart> => {
  const [uidvalidity = '', uid = ''] = id.split('.')
  const lost = (): GatehouseError =>
    new GatehouseError('PartNotFound', { part, id, service: account.connection.service })
  if (!/^\d+(\.\d+)*$/.test(part) || !/^\d+$/.test(uid)) throw lost()
  return account.imap('use', signal, async (client) => {
    const opened = await client.mailboxOpen(collection, { readOnly: true })
    if (`${opened.uidValidity}` !== uidvalidity) throw lost()
    const message = await client.fetchOne(uid, { bodyStructure: true }, { uid: true })
    const structure = message ? message.bodyStructure : undefined
    const hanging = structure && outlineOf(structure).attachments.find((one) => one.part === part)
    if (!hanging) throw lost()
    const found = await client.download(uid, part, { uid: true, maxBytes: bytesMax + 1 })
    if (!('content' in found) || !found.content) throw lost()
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of found.content as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > bytesMax) throw new GatehouseError('ResponseTooLarge', { limit_bytes: bytesMax })
      chunks.push(chunk)
    }
    return {
      name: hanging.name,
      content_type: hanging.content_type,
      size_bytes: bytes,
      content: (async function* () {
        yield* chunks
      })(),
    }
  })
}
