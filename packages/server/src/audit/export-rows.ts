import { GatehouseError } from '@gatehouse/contract'
import { copiedFields, type LogRow } from '../domain/audit/row.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { type ExportHeader, exportFormat } from './export.ts'

export type ExportRows = {
  readonly header: ExportHeader
  readonly rows: Pick<AuditRows, 'range' | 'head' | 'chains'>
  readonly notes: readonly string[]
  /** What is wrong with the file before any hash is looked at. */
  readonly broken: Fault | null
}

type Line = {
  readonly seq: number
  readonly chain: string
  readonly id: string
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
    typeof line?.body === 'string' && typeof line.seq === 'number' && typeof line.id === 'string'
  )
}

/** The columns of an exported entry are those of its body, but for what the line says itself. */
const rowOf = (line: Line): LogRow => {
  const body = (parse(line.body) ?? {}) as Record<string, unknown>
  const columns = Object.fromEntries(copiedFields.map((name) => [name, body[name] ?? null]))
  const { seq, chain, id } = line
  const hash = line.hash.replace(/^sha256:/, '')
  return { ...(columns as unknown as LogRow), seq, chain, id, hash, body: line.body }
}

/** Reads an export as rows, in the order of the file: an order that was changed has to show. */
export const readExport = (text: string, origin: string): ExportRows => {
  const lines = text.split('\n').filter((line) => line !== '')
  const header = parse(lines[0] ?? '') as ExportHeader | null
  if (header?.format !== exportFormat) {
    throw new GatehouseError('InvalidConfiguration', {
      origin,
      detail: `not an export of the audit log (${exportFormat})`,
    })
  }
  const chains = new Map<string, LogRow[]>(header.chains.map(({ chain }) => [chain, []]))
  const notes: string[] = []
  let broken: Fault | null = null
  for (const [i, text] of lines.slice(1).entries()) {
    const value = parse(text) as (Partial<Line> & { checkpoint?: unknown }) | null
    if (isLine(value)) {
      const rows = chains.get(value.chain) ?? []
      chains.set(value.chain, rows)
      rows.push(rowOf(value))
    } else if (typeof value?.checkpoint === 'string') notes.push(value.checkpoint)
    else broken ??= { kind: 'modified', seq: i, id: null, detail: `line ${i + 2} cannot be read` }
  }
  const of = (chain: string): readonly LogRow[] => chains.get(chain) ?? []
  return {
    header,
    notes,
    broken,
    rows: {
      head: async (chain) => of(chain).at(-1) ?? null,
      // By position, which is the seq where nothing is wrong; what is out of place is then found so.
      range: async (chain, from, to, limit) => of(chain).slice(from, Math.min(to, from + limit)),
      chains: async () => [...chains.keys()].map((chain) => ({ chain, rows: of(chain).length })),
    },
  }
}
