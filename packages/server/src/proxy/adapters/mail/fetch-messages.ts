import type { FetchMessageObject, ImapFlow } from 'imapflow'
import type { ReplicaEntry } from '../../../ports/replica.ts'
import type { MailReader, ReadMail } from './mail-reader.ts'
import { messageEntry } from './message-entry.ts'
import { fingerprintOf, headerBytesMax } from './message-place.ts'
import { type Outline, outlineOf, type TextPart } from './structure.ts'
import { formatUids } from './uid-set.ts'

const plainBytesMax = 131_072
const htmlBytesMax = 262_144
const sourceBytesMax = 262_144
/** Of texts in one answer. */
const answerBytesMax = 4 * 1024 * 1024

type Begun = {
  readonly message: FetchMessageObject
  readonly header: Buffer
  readonly outline: Outline | null
  readonly wanted: readonly (TextPart & { readonly bytes_max: number })[]
}

/** Plain text says it all where there is some; HTML is kept beside it for who wants to look. */
const wantedOf = (outline: Outline | null) => {
  const texts = outline?.texts ?? []
  const plain = texts.filter(({ kind }) => kind === 'plain')
  const html = texts.filter(({ kind }) => kind === 'html').slice(0, 1)
  return [...plain, ...html]
    .filter(({ size_bytes }) => size_bytes > 0)
    .map((part) => ({ ...part, bytes_max: part.kind === 'plain' ? plainBytesMax : htmlBytesMax }))
}

/** Messages that ask for the same parts share a command, as long as the answer stays small. */
const groups = (begun: readonly Begun[]): Begun[][] => {
  const byParts = new Map<string, { bytes: number; list: Begun[] }[]>()
  for (const one of begun.filter(({ wanted }) => wanted.length > 0)) {
    const key = one.wanted.map(({ part, bytes_max }) => `${part}<${bytes_max}`).join()
    const bytes = one.wanted.reduce((sum, p) => sum + Math.min(p.size_bytes, p.bytes_max), 0)
    const lists = byParts.get(key) ?? []
    const last = lists.at(-1)
    if (last && last.bytes + bytes <= answerBytesMax) {
      last.list.push(one)
      last.bytes += bytes
    } else lists.push({ bytes, list: [one] })
    byParts.set(key, lists)
  }
  return [...byParts.values()].flat().map(({ list }) => list)
}

/** A text with as much of a header as decoding it takes: nothing of this is the sender's own words. */
const pieceOf = ({ kind, charset, encoding, flowed }: TextPart, bytes: Uint8Array) => ({
  kind,
  bytes: Buffer.concat([
    Buffer.from(
      `Content-Type: text/${kind}; charset="${charset}"${flowed ? '; format=flowed' : ''}\r\n` +
        `Content-Transfer-Encoding: ${encoding}\r\n\r\n`,
    ),
    bytes,
  ]),
})

const receivedMs = ({ internalDate }: FetchMessageObject): number => {
  const ms = internalDate instanceof Date ? internalDate.getTime() : Date.parse(internalDate ?? '')
  return Number.isNaN(ms) ? 0 : ms
}

/** Without what says how the body is built: that is asked of the server, and read part by part. */
const bareHeader = (header: Buffer): Buffer => {
  const text = header.toString('latin1').replace(/\r\n[ \t]+/g, ' ')
  const lines = text.split(/\r?\n/).filter((one) => one !== '' && !/^(content-|mime-)/i.test(one))
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

export type Fetching = {
  readonly client: ImapFlow
  readonly reader: MailReader
  readonly folder: string
  readonly uidvalidity: string
}

/** Everything about these messages but their texts. `structure` false: for one that the server cannot describe. */
const begin = async (
  { client }: Fetching,
  uids: readonly number[],
  structure: boolean,
): Promise<Begun[]> => {
  const found = await client.fetchAll(
    formatUids(uids),
    {
      uid: true,
      flags: true,
      internalDate: true,
      size: true,
      ...(structure
        ? { bodyStructure: true }
        : { source: { start: 0, maxLength: sourceBytesMax } }),
      bodyParts: [{ key: 'HEADER', start: 0, maxLength: headerBytesMax }],
    },
    { uid: true },
  )
  const wanted = new Set(uids)
  return found
    .filter(({ uid }) => wanted.has(uid))
    .map((message) => {
      const header = message.headers ?? message.bodyParts?.get('header') ?? Buffer.alloc(0)
      const outline = message.bodyStructure ? outlineOf(message.bodyStructure) : null
      return { message, header, outline, wanted: wantedOf(outline) }
    })
}

const finish = async (
  fetching: Fetching,
  { message, header, outline, wanted }: Begun,
  texts: ReadonlyMap<string, Buffer>,
): Promise<ReplicaEntry> => {
  const parts = wanted.flatMap((part) => {
    const bytes = texts.get(part.part)
    return bytes ? [pieceOf(part, bytes)] : []
  })
  const { mail, damaged } = await fetching.reader.read({
    header: bareHeader(header),
    parts,
    source: message.source ?? null,
  })
  const size = message.size ?? 0
  return messageEntry({
    place: { folder: fetching.folder, uidvalidity: fetching.uidvalidity, uid: message.uid },
    fingerprint: fingerprintOf(header, size),
    flags: [...(message.flags ?? [])],
    modseq: message.modseq === undefined ? null : `${message.modseq}`,
    received_ms: receivedMs(message),
    size_bytes: size,
    mail,
    ...hanging(outline, mail),
    truncated:
      outline?.more === true ||
      wanted.some(({ size_bytes, bytes_max }) => size_bytes > bytes_max) ||
      (message.source !== undefined && size > sourceBytesMax),
    damaged: damaged || outline === null,
  })
}

/** Attachments as the server numbers them; of a message it cannot describe only their names are known. */
const hanging = (outline: Outline | null, mail: ReadMail) => {
  if (outline)
    return { attachments: outline.attachments, attachments_total: outline.attachments_total }
  const attachments = mail.attachments.map((one) => ({
    ...one,
    part: '',
    size_bytes: 0,
    inline: false,
  }))
  return { attachments, attachments_total: attachments.length }
}

/** Reads messages of the folder that is open, in the order the server gives them. Never more than a few megabytes at once. */
export const fetchMessages = async (
  fetching: Fetching,
  uids: readonly number[],
  { structure = true } = {},
): Promise<ReplicaEntry[]> => {
  const begun = await begin(fetching, uids, structure)
  const texts = new Map<number, ReadonlyMap<string, Buffer>>()
  for (const group of groups(begun)) {
    const bodyParts = (group[0]?.wanted ?? []).map(({ part, bytes_max }) => ({
      key: part,
      start: 0,
      maxLength: bytes_max,
    }))
    const found = await fetching.client.fetchAll(
      formatUids(group.map(({ message }) => message.uid)),
      { uid: true, bodyParts },
      { uid: true },
    )
    for (const { uid, bodyParts: parts } of found) if (parts) texts.set(uid, parts)
  }
  const entries: ReplicaEntry[] = []
  for (const one of begun)
    entries.push(await finish(fetching, one, texts.get(one.message.uid) ?? new Map()))
  return entries
}
