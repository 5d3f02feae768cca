import { hash } from 'node:crypto'

/** Where a message lies: UIDs are never given twice while the validity of the folder stays. */
export type MessagePlace = {
  readonly folder: string
  readonly uidvalidity: string
  readonly uid: number
}

/** How much of a header is looked at. */
export const headerBytesMax = 65_536

/** Of the content alone: the same wherever the message lies, other for any other message. */
export const fingerprintOf = (header: Uint8Array, sizeBytes: number): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${sizeBytes}\n`), header])).slice(0, 24)

/** The id of an entry of the replica: made of what a server tells of a message that is gone, too. */
export const entryIdOf = ({ uidvalidity, uid }: Omit<MessagePlace, 'folder'>): string =>
  `${uidvalidity}.${uid}`

/**
 * Name of a message for agents: what it is, then where it was. Once it was moved the place is wrong
 * and the first part still finds it, where no other copy lies around.
 */
export const messageRefOf = (fingerprint: string, place: MessagePlace): string => {
  const where = hash('sha256', `${place.folder}\n${place.uidvalidity}`).slice(0, 8)
  return `mail-${fingerprint}-${where}-${place.uid}`
}

/** The key by which every copy of a message is found. */
export const contentKeyOf = (fingerprint: string): string => `content:${fingerprint}`
