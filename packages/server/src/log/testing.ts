import fs from 'node:fs'
import path from 'node:path'
import { plainDraft } from '../domain/audit/entry.ts'
import type { AuditDraft } from '../ports/audit.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import { encodeFrame, type LoggedEntry, lineOf, noteText } from './frame.ts'
import { LogReader, segmentsFolder } from './log-files.ts'
import { encodeHeader, Segment } from './segment.ts'

export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The entries of a log as they lie in its files. */
export const entriesIn = (directory: string): Mutable<LoggedEntry>[] =>
  [...new LogReader(directory).entries(0)].flat().map((entry) => ({ ...entry }))

/** Where the frame with this entry lies. */
export const frameAt = (
  directory: string,
  seq: number,
): { readonly file: string; readonly at: number; readonly bytes: number } => {
  const folder = path.join(directory, segmentsFolder)
  const segments = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => new Segment(path.join(folder, name), 0))
  for (const { file, frames } of segments)
    for (const { first, count, at, bytes } of frames)
      if (first <= seq && seq < first + count) return { file, at, bytes }
  throw new Error(`no frame has entry ${seq}`)
}

/** A frame as somebody makes it who has no key. */
export const forgedFrame = ({ seq, hash, seal, body }: LoggedEntry): Buffer => {
  const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
  return encodeFrame(Math.max(0, seq), 1, note + lineOf(hash, seal, body), Buffer.alloc(32))
}

/** Writes the files of a log as somebody does who has no key: entry by entry, with nothing that vouches for them. */
export const writeEntries = (
  directory: string,
  entries: readonly LoggedEntry[],
  chain = 'main',
): void => {
  const folder = path.join(directory, segmentsFolder)
  for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name))
  const head = '0'.repeat(64)
  const header = { format: 'gatehouse-log-v1', chain, first: 0, head, root: '' } as const
  const frames = entries.map(forgedFrame)
  fs.writeFileSync(
    path.join(folder, `${'0'.repeat(16)}.log`),
    Buffer.concat([encodeHeader(header), ...frames]),
  )
}

export const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export const createIds = (): Ids => {
  let count = 0
  return {
    next(prefix) {
      let rest = count++
      let text = ''
      for (let i = 0; i < 26; i++) {
        text = alphabet.charAt(rest % 32) + text
        rest = Math.floor(rest / 32)
      }
      return `${prefix}-${text}`
    },
    secret: () => Buffer.alloc(32),
  }
}

/** Stands still until it is moved; sleepers wake when their time has come or their signal aborts. */
export class HandClock implements Clock {
  ms = Date.UTC(2026, 0, 1)
  /** How far the wall clock is off: somebody sets it, or it follows another one. */
  wallOffsetMs = 0
  readonly #sleepers = new Set<{ at: number; wake: () => void }>()
  wall(): number {
    return this.ms + this.wallOffsetMs
  }
  now(): number {
    return this.ms
  }
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = {
        at: this.ms + ms,
        wake: () => {
          this.#sleepers.delete(sleeper)
          signal?.removeEventListener('abort', sleeper.wake)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', sleeper.wake, { once: true })
      if (signal?.aborted) sleeper.wake()
    })
  }
  after(ms: number, callback: () => void): Disposable {
    const gone = new AbortController()
    const wait = async (): Promise<void> => {
      await this.sleep(ms, gone.signal)
      if (!gone.signal.aborted) callback()
    }
    void wait()
    return { [Symbol.dispose]: () => gone.abort() }
  }
  move(ms: number): void {
    this.ms += ms
    for (const sleeper of [...this.#sleepers]) if (sleeper.at <= this.ms) sleeper.wake()
  }
}

export const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

export const draft = (change: Partial<AuditDraft> = {}): AuditDraft =>
  plainDraft({
    kind: 'call',
    agent: 'mailbot',
    capability: 'filesystem.read',
    arguments: { path: 'notes/today.md' },
    policy_decision: 'autonomous',
    actor: 'agent:mailbot',
    request_id: 'req-1',
    rule: { layer: 'system', file: 'default', line: 3, match: 'filesystem.read' },
    duration_ms: 2,
    ...change,
  })

export const everything = { limit: 100, offset: 0 } as const

export const textOf = async (lines: AsyncIterable<string>): Promise<string> => {
  let text = ''
  for await (const line of lines) text += line
  return text
}
