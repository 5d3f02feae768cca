import { hash } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { ChainStarts } from '../../src/log/chain-starts.ts'
import { indexFolder } from '../../src/log/entry-index/block-files.ts'
import { EntryIndex } from '../../src/log/entry-index/entry-index.ts'
import type { LoggedEntry } from '../../src/log/frame.ts'
import { loadKeys } from '../../src/log/keys.ts'
import type { AuditRow } from '../../src/ports/audit-rows.ts'

const nobody = {
  read: async () => [],
  ends: async () => [],
  removals: async () => [],
  keys: async () => [],
  checkpoint: async () => null,
  roots: async () => [],
}

export const newYear = Date.UTC(2026, 0, 1)

export const rowOf = (seq: number, over: Partial<AuditRow> = {}): AuditRow => {
  const {
    body: _body,
    hash: _hash,
    ...fields
  } = {
    chain: 'main',
    seq,
    id: `aud-${String(seq).padStart(26, '0')}`,
    timestamp: new Date(newYear + seq * 1_000).toISOString(),
    kind: 'call',
    agent: 'mailbot',
    capability: 'filesystem.read',
    result: 'success',
    policy_decision: 'autonomous',
    session_id: null,
    duration_ms: 1.5,
    intent_id: null,
    approval_id: null,
    detail: null,
    ...over,
  }
  const body = JSON.stringify(fields)
  return { ...fields, hash: hash('sha256', body, 'hex'), body } as AuditRow
}

/** A log in memory, which outlives the index that is made of it. */
export class Log {
  readonly directory = fs.mkdtempSync(path.join(tmpdir(), 'gatehouse-index-'))
  readonly lines: LoggedEntry[] = []
  readonly keys = loadKeys(this.directory)
  /** How many entries were read from it. */
  read = 0
  /** The number of its first entry that is left. */
  start = 0
  readonly #opened: EntryIndex[] = []

  constructor() {
    onTestFinished(async () => {
      // Blocks are written beside this thread.
      for (const index of this.#opened) await index.save()
      fs.rmSync(this.directory, { recursive: true })
    })
  }

  get folder(): string {
    return path.join(this.directory, indexFolder)
  }

  entry(seq: number): LoggedEntry | null {
    return this.lines.find((line) => line.seq === seq) ?? null
  }

  *entries(from: number, to = Number.POSITIVE_INFINITY): Generator<readonly LoggedEntry[]> {
    for (const line of this.lines)
      if (line.seq >= from && line.seq < to) {
        this.read += 1
        yield [line]
      }
  }

  write(rows: readonly AuditRow[]): void {
    for (const { seq, hash, body } of rows) this.lines.push({ seq, hash, body, seal: '' })
  }

  async open(): Promise<EntryIndex> {
    this.read = 0
    const index = await EntryIndex.open({
      start: () => this.start,
      directory: this.directory,
      chain: 'main',
      files: this,
      sealer: this.keys,
      others: nobody,
      starts: new ChainStarts(nobody),
    })
    this.#opened.push(index)
    await index.catchUp(Number.MAX_SAFE_INTEGER)
    return index
  }
}

export const indexOf = async (rows: readonly AuditRow[]): Promise<EntryIndex> => {
  const log = new Log()
  const index = await log.open()
  log.write(rows)
  index.add(rows)
  return index
}

export const many = (count: number, of: (seq: number) => Partial<AuditRow> = () => ({})) =>
  Array.from({ length: count }, (_, seq) => rowOf(seq, of(seq)))
