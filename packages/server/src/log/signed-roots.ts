import type { HeadProof, SignedRoot } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import { entryOf, plainDraft } from '../domain/audit/entry.ts'
import { type ChainHead, proveHead } from '../domain/audit/heads-root.ts'
import type { AuditCopies, AuditRow, ReadableChains } from '../ports/audit-rows.ts'
import type { Storage } from '../ports/storage.ts'
import type { AcceptedLogs } from './accepted-logs.ts'
import { type ChainStarts, type Starts, startOf } from './chain-starts.ts'
import type { EntryIndex } from './entry-index/entry-index.ts'
import { hashing } from './hashing.ts'
import { type Keys, parsePublicKey, type Verifier } from './keys.ts'
import type { LogReader } from './log-files.ts'
import { rowOfEntry } from './read-groups.ts'
import {
  findMisfit,
  headsAct,
  isSigned,
  keyPrint,
  type Misfit,
  type PresentLogs,
  type RecordedRoot,
  readRecordedRoot,
  recordRoot,
  shownRoot,
} from './recorded-root.ts'
import { takeTurn } from './turn.ts'
import type { Writer } from './writer.ts'

type Parts = {
  /** Of this process. */
  readonly chain: string
  readonly keys: Keys
  readonly storage: Pick<Storage, 'id' | 'isNetworked' | 'meta' | 'wallMs'> & {
    readonly copies: Pick<AuditCopies, 'keepRoot'>
  }
  readonly rows: Pick<EntryIndex, 'newestOwn'>
  readonly writer: Pick<Writer, 'append' | 'standing'>
  readonly files: Pick<LogReader, 'entry'>
  /** Where the log of this process begins. */
  readonly start: () => LogState
  readonly others: ReadableChains
  readonly starts: ChainStarts
  readonly accepted: Pick<AcceptedLogs, 'find' | 'use'>
}

type Known = { readonly last: RecordedRoot | null; readonly newest: RecordedRoot | null }

const turnKey = 'audit.heads'
/** The others make none meanwhile: longer than from one root to the next, and shorter than two of those. */
const turnMs = 90_000
/** More would not fit into one entry. */
const headsMax = 256

/** Roots over all logs, as one process makes and checks them. */
export interface Roots {
  /** The newest one, as it was last found to hold. */
  readonly confirmed: SignedRoot | null

  /** Must return the newest that this process made, since it started or before. */
  findOwn(): Promise<RecordedRoot | null>

  /** Must lead from the head of a chain to the newest root that was found to hold; null where it is not under one. */
  prove(chain: string): Promise<HeadProof | null>

  /** Why no root is made of the logs that there are; null where one can be. */
  readonly failure: string | null

  /** Must make a root at a start, where others have not only just begun, too: a moved store has other logs. */
  begin(): Promise<void>

  /** Must make a root where another log has grown, and where the logs still are what the last one says. */
  record(): Promise<void>

  /** Must make one again, where this process made one: the entry about it may have gone. */
  repeat(): Promise<void>

  /** Must make one whatever the last one says: what is wrong with the logs was accepted. */
  renew(): Promise<void>

  /** Must return when the newest root was signed, by whichever process and for this store; empty where there is none. */
  newestAt(): Promise<string>

  /** Must return the first thing that is not as the newest root says, or the newest that this process made. */
  check(): Promise<Misfit | null>
}

const nothing = async (): Promise<void> => undefined

/** Where another process makes the roots, and checks them. */
export const noRoots: Roots = {
  ...{
    confirmed: null,
    findOwn: async () => null,
    failure: null,
    begin: nothing,
    record: nothing,
    repeat: nothing,
  },
  ...{ renew: nothing, newestAt: async () => '', check: async () => null, prove: async () => null },
}

const recordedIn = (rows: readonly AuditRow[]): readonly RecordedRoot[] =>
  rows.flatMap((row) => readRecordedRoot(entryOf(row)) ?? [])

const byTime = (a: RecordedRoot, b: RecordedRoot): number => (a.timestamp < b.timestamp ? 1 : -1)

/**
 * One root over the heads of all logs, signed and recorded in the log of the process that made it. What is signed over that log
 * is signed over all of them, and none can be shortened, put back or taken away unseen.
 */
export class SignedRoots implements Roots {
  readonly #parts: Parts
  /** The newest that this process made, for whichever store; undefined until its log was looked through. */
  #made: RecordedRoot | null | undefined
  #confirmed: RecordedRoot | null = null
  #failure: string | null = null
  #known: Known | null = null
  /** One is made after the other: two at once would find the same reason. */
  #busy: Promise<unknown> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get confirmed(): SignedRoot | null {
    return this.#confirmed && shownRoot(this.#confirmed)
  }

  async findOwn(): Promise<RecordedRoot | null> {
    // Nobody else adds to the log of this process: it is looked through once.
    if (this.#made === undefined)
      this.#made = recordedIn(await this.#parts.rows.newestOwn(headsAct, 1))[0] ?? null
    return this.#made?.store === this.#parts.storage.id ? this.#made : null
  }

  get failure(): string | null {
    return this.#failure
  }

  async begin(): Promise<void> {
    if (!this.#parts.storage.isNetworked) await this.record()
  }

  record(): Promise<void> {
    return this.#after(async () => {
      const { last } = await this.#last()
      await this.#recordWhere((heads) => this.#hasGrown(heads, last))
    })
  }

  repeat(): Promise<void> {
    return this.#after(async () => {
      if (await this.findOwn()) await this.#recordWhere(() => true)
    })
  }

  renew(): Promise<void> {
    return this.#after(async () => {
      const { last } = await this.#last()
      const heads = await this.#present()
      if (last !== null || heads.length > 1) await this.#append(heads)
    })
  }

  async newestAt(): Promise<string> {
    const keys = await this.#keys()
    const own = await this.findOwn()
    const told = [...(own ? [own] : []), ...(await this.#lookAtOthers())].filter(
      (one) => one.store === this.#parts.storage.id && isSigned(one, keys.get(one.chain) ?? null),
    )
    return told.toSorted(byTime)[0]?.timestamp ?? ''
  }

  async check(): Promise<Misfit | null> {
    const { newest, own } = await this.#last()
    const told = [...new Set([newest, own].filter((one) => one !== null))]
    if (told.length === 0) return null
    const keys = await this.#keys()
    const isDamaged = await Promise.all(told.map((one) => this.#isAcceptedDamage(one, keys)))
    const recorded = told.filter((_, at) => !isDamaged[at])
    const fault = await this.#parts.starts.steady(
      async (starts) => {
        const logs = this.#logs(starts, keys)
        for (const one of recorded) {
          const found = await findMisfit(one, logs)
          if (found) return found
        }
        return null
      },
      (found) => found !== null,
    )
    this.#confirmed = fault ? null : (recorded[0] ?? null)
    return fault
  }

  /** Whether it is in a part of a log that a person accepted as it is, and nobody signed it. */
  async #isAcceptedDamage(
    recorded: RecordedRoot,
    keys: ReadonlyMap<string, Verifier>,
  ): Promise<boolean> {
    const { chain, seq } = recorded
    if (isSigned(recorded, keys.get(chain) ?? null)) return false
    const accepted = await this.#parts.accepted.find(chain)
    return accepted !== null && seq < accepted.size
  }

  async prove(chain: string): Promise<HeadProof | null> {
    if (this.#confirmed === null) await this.check()
    const recorded = this.#confirmed
    const way = recorded && proveHead(hashing, recorded.heads, chain)
    // Nothing tells which key the log has that is under the root.
    if (!way || way.head.key === '') return null
    const signer = (await this.#keys()).get(recorded.chain)
    const { chain: by, root, note, heads } = recorded
    return signer
      ? { ...way, logs: heads.length, root, note, chain: by, public_key: signer.pem }
      : null
  }

  #after(work: () => Promise<void>): Promise<void> {
    const done = this.#busy.then(work)
    this.#busy = done.catch(() => undefined)
    return done
  }

  async #recordWhere(isDue: (heads: readonly ChainHead[]) => boolean): Promise<void> {
    const heads = await this.#present()
    const { storage, chain } = this.#parts
    if (!isDue(heads) || !(await takeTurn(storage, turnKey, chain, turnMs))) return
    // @SECURITY A root over what contradicts the last one would make a shortened log the accepted one; signed-roots.test.ts.
    if ((await this.check()) === null) await this.#append(heads)
  }

  /** Whether there is more in another log than under a root of this store; the entry about that root alone does not count. */
  #hasGrown(heads: readonly ChainHead[], last: RecordedRoot | null): boolean {
    if (last === null) return heads.length > 1
    if (last.store !== this.#parts.storage.id) return true
    const sizes = new Map(last.heads.map(({ chain, size }) => [chain, size]))
    sizes.set(last.chain, Math.max(sizes.get(last.chain) ?? 0, last.seq + 1))
    return heads.some(({ chain, size }) => chain !== this.#parts.chain && sizes.get(chain) !== size)
  }

  #logs(starts: Starts, keys: ReadonlyMap<string, Verifier>): PresentLogs {
    const { chain: own, start } = this.#parts
    return {
      isTold: () => true,
      hashAt: (chain, seq) => this.#hashAt(chain, seq),
      start: (chain) => (chain === own ? start() : startOf(starts, chain)),
      key: (chain) => keys.get(chain) ?? null,
      accepted: (chain, recorded) => this.#acceptedSince(chain, recorded),
    }
  }

  async #acceptedSince(chain: string, { timestamp }: RecordedRoot): Promise<ChainHead | null> {
    const accepted = await this.#parts.accepted.find(chain)
    // @SECURITY A log that was cut short after a person accepted it is under a later root; accepted-logs.test.ts.
    if (accepted === null || accepted.roots_through < timestamp) return null
    this.#parts.accepted.use(accepted)
    return accepted
  }

  async #hashAt(chain: string, seq: number): Promise<string | null> {
    const { chain: own, files, others } = this.#parts
    if (chain === own) return files.entry(seq)?.hash ?? null
    const [entry] = await others.read(chain, seq, 1)
    return entry?.seq === seq ? entry.hash : null
  }

  async #keys(): Promise<ReadonlyMap<string, Verifier>> {
    const { chain: own, keys, others } = this.#parts
    const told = (await others.keys()).flatMap(({ chain, public_key }): [string, Verifier][] => {
      try {
        return [[chain, parsePublicKey(public_key, chain)]]
      } catch {
        // A key that is none: a root that names one finds that it is another.
        return []
      }
    })
    return new Map([...told, [own, keys]])
  }

  async #append(heads: readonly ChainHead[]): Promise<void> {
    const { chain, storage, keys, writer } = this.#parts
    if (this.#failure !== null) return
    const said = recordRoot({ chain, store: storage.id, heads }, keys)
    const entry = await writer.append(plainDraft({ actor: 'system', request_id: '', ...said }))
    const made = readRecordedRoot(entry)
    this.#made = made
    this.#known = { last: made, newest: made }
    if (storage.isNetworked) await storage.copies.keepRoot({ chain, seq: entry.seq })
  }

  /** Where all logs end now, that of this process as well. */
  async #present(): Promise<readonly ChainHead[]> {
    const { chain: own, writer, others } = this.#parts
    const keys = await this.#keys()
    const printOf = (chain: string): string => {
      const key = keys.get(chain)
      return key ? keyPrint(key.raw) : ''
    }
    const { size, head } = writer.standing.state
    const heads: ChainHead[] = [{ chain: own, size, head, key: printOf(own) }]
    for (const { chain, next } of await others.ends()) {
      const hash = chain === own || next <= 0 ? null : await this.#hashAt(chain, next - 1)
      if (hash !== null) heads.push({ chain, size: next, head: hash, key: printOf(chain) })
    }
    this.#failure =
      heads.length > headsMax
        ? `there are ${heads.length} audit logs, and no new root over all is made, as one is over ${headsMax} at most: no log is compared with those of others; run fewer gate processes, or move the store`
        : null
    return heads
  }

  /** The newest root of all, the newest of this store, and the newest of it that this process made. */
  async #last(): Promise<Known & { readonly own: RecordedRoot | null }> {
    // Another node may have made one since. Gate processes leave that to the first.
    if (this.#known === null || this.#parts.storage.isNetworked) this.#known = await this.#look()
    return { ...this.#known, own: await this.findOwn() }
  }

  async #look(): Promise<Known> {
    const { storage } = this.#parts
    await this.findOwn()
    const own = this.#made ? [this.#made] : []
    const roots = [...own, ...(await this.#lookAtOthers())].toSorted(byTime)
    const ofStore = roots.filter((one) => one.store === storage.id)
    return { last: roots[0] ?? null, newest: ofStore[0] ?? null }
  }

  /** Where their processes told that they are: looking for them would make an index of all entries of others. */
  async #lookAtOthers(): Promise<readonly RecordedRoot[]> {
    const { chain: own, others } = this.#parts
    const found: RecordedRoot[] = []
    for (const { chain, seq } of await others.roots()) {
      const [copy] = chain === own ? [] : await others.read(chain, seq, 1)
      const row = copy && rowOfEntry({ ...copy, seal: '' })
      if (row?.chain === chain) found.push(...recordedIn([row]))
    }
    return found
  }
}
