import { GatehouseError } from '@gatehouse/contract'
import { type Fault, idOf } from '../domain/audit/verify-range.ts'
import { type ExportHeader, exportFormat } from './export.ts'
import type { LoggedEntry } from './frame.ts'
import type { Entries } from './verify-chain.ts'

export type ExportRows = {
  readonly header: ExportHeader
  readonly entries: Entries
  readonly notes: readonly string[]
  /** Fault of the file before any hash is looked at. */
  readonly broken: Fault | null
}

type Line = {
  readonly seq: number
  readonly chain: string
  /** Null for an entry that damage made unreadable. */
  readonly id: string | null
  readonly hash: string
  readonly body: string
}

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

const isLine = (value: unknown): value is Line => {
  const line = value as Partial<Line> | null
  return (
    typeof line?.body === 'string' &&
    typeof line.seq === 'number' &&
    (line.id === null || typeof line.id === 'string')
  )
}

const entryOf = ({ seq, hash, body }: Line): LoggedEntry => ({
  seq,
  hash: hash.replace(/^sha256:/, ''),
  seal: '',
  body,
})

const sliceEntries = 256

/** The number of the first entry of a chain, as the header claims. */
const claimedFirst = (header: ExportHeader, chain: string): number => {
  const isOwn = chain === header.chain
  if (isOwn && header.begin) return header.begin.size
  const removal = isOwn ? header.removal : header.chains.find((one) => one.chain === chain)?.removal
  const { size } = (parse(String(removal?.record)) ?? {}) as { readonly size?: unknown }
  return typeof size === 'number' ? size : 0
}

/** Reads an export, in the order of the file: an order that was changed has to show. */
export const readExport = (text: string, origin: string): ExportRows => {
  const lines = text.split('\n').filter((line) => line !== '')
  const header = parse(lines[0] ?? '') as ExportHeader | null
  if (header?.format !== exportFormat) {
    throw new GatehouseError('InvalidConfiguration', {
      origin,
      detail: `not an export of the audit log (${exportFormat})`,
    })
  }
  const chains = new Map<string, LoggedEntry[]>(header.chains.map(({ chain }) => [chain, []]))
  const notes: string[] = []
  let broken: Fault | null = null
  for (const [i, text] of lines.slice(1).entries()) {
    const value = parse(text) as (Partial<Line> & { checkpoint?: unknown }) | null
    if (isLine(value)) {
      const entries = chains.get(value.chain) ?? []
      chains.set(value.chain, entries)
      const entry = entryOf(value)
      entries.push(entry)
      // The line names the entry for people: it must not name another one than the hashed text does.
      if (idOf(entry) !== value.id)
        broken ??= {
          kind: 'modified',
          seq: value.seq,
          id: value.id,
          detail: 'column id differs from the hashed entry',
        }
    } else if (typeof value?.checkpoint === 'string') notes.push(value.checkpoint)
    else broken ??= { kind: 'modified', seq: i, id: null, detail: `line ${i + 2} cannot be read` }
  }
  return {
    header,
    notes,
    broken,
    // By position, which is the seq where nothing is wrong; what is out of place is then found so. Behind a gap, by number.
    *entries(chain, from) {
      const all = chains.get(chain) ?? []
      const first = claimedFirst(header, chain)
      const guess = Math.max(0, from - first)
      const isThere = guess === 0 || all[guess]?.seq === from
      const found = isThere ? guess : all.findIndex(({ seq }) => seq >= from)
      for (let at = found; at >= 0 && at < all.length; at += sliceEntries)
        yield all.slice(at, at + sliceEntries)
    },
  }
}
