import { createHmac, timingSafeEqual } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import { genesis } from '../domain/audit/chain.ts'
import { parseStored } from '../domain/parse-stored.ts'
import type { ReadableChains } from '../ports/audit-rows.ts'
import type { Storage } from '../ports/storage.ts'
import { copiesOf } from './chain-verifier.ts'
import { parsePublicKey } from './keys.ts'
import { keyPrint } from './recorded-root.ts'
import type { Baseline } from './signed-head.ts'
import { digestLog } from './verify-chain.ts'

/** State of the log of another process as a person accepted it: whatever changes in it afterwards is a new finding. */
export type AcceptedLog = Baseline & {
  readonly chain: string
  /** Fingerprint of its key; empty where none was told. */
  readonly key: string
  readonly accepted_at: string
  /** Roots that were made up to then say how the log was before: clocks of nodes differ. */
  readonly roots_through: string
  /** Audit entry about that. */
  readonly entry: string
}

type Parts = {
  readonly storage: Pick<Storage, 'id' | 'meta'>
  readonly others: Pick<ReadableChains, 'ends' | 'keys' | 'read'>
  /** Key that the processes have in common and the store has not; null where there is none. */
  readonly key: () => string | null
  readonly signal: AbortSignal
}

const metaKey = (chain: string): string => `audit.accepted.${chain}`
const tag = 'gatehouse accepted log\n'

const isAs = (given: string, expected: string): boolean =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))

const noKey = (): GatehouseError =>
  new GatehouseError(
    'Conflict',
    {
      detail:
        'nothing was accepted: this node has no policy.key, with which nodes authenticate what people accept',
    },
    {
      recovery: [
        {
          action: 'copy policy.key',
          description: 'Where another node serves, copy it from its data directory, mode 600.',
        },
        {
          action: 'gatehouse serve',
          description: 'Where none has served yet, start this one, which makes the key.',
        },
      ],
    },
  )

/**
 * Logs of others that people accepted as they are, for all nodes: that of a node that is gone nobody else can put right. They are
 * asked for where something was found, and only there.
 */
export class AcceptedLogs {
  readonly #parts: Parts
  readonly #used = new Map<string, AcceptedLog>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** States that the last verifications relied on. */
  get used(): ReadonlyMap<string, AcceptedLog> {
    return this.#used
  }

  use(accepted: AcceptedLog): void {
    this.#used.set(accepted.chain, accepted)
  }

  /** Says that a log is sound as it is. */
  forget(chain: string): void {
    this.#used.delete(chain)
  }

  async find(chain: string): Promise<AcceptedLog | null> {
    const text = (await this.#parts.storage.meta.get(metaKey(chain))) ?? ''
    const at = text.indexOf('\n')
    const [mac, record] = [text.slice(0, at), text.slice(at + 1)]
    // @SECURITY Writers of the database would accept what they changed there themselves; accepted-logs.test.ts.
    if (at <= 0 || !isAs(mac, this.#macOf(record) ?? '')) return null
    const accepted = parseStored<AcceptedLog>(record, `meta.${metaKey(chain)}`)
    return accepted.chain === chain ? accepted : null
  }

  /** The log of a chain as others read it now. */
  async stateOf(
    chain: string,
  ): Promise<Omit<AcceptedLog, 'accepted_at' | 'entry' | 'roots_through'>> {
    const { others, signal } = this.#parts
    const end = (await others.ends()).find((one) => one.chain === chain)
    const size = Math.max(0, end?.next ?? 0)
    const entries = (of: string, from: number) => copiesOf(others, of, from)
    const { all: digest } = await digestLog({ entries }, chain, size, signal)
    const [last] = size > 0 ? await others.read(chain, size - 1, 1) : []
    const key = await this.#keyOf(chain)
    return { chain, size, head: last?.hash ?? genesis, peaks: [], digest, key }
  }

  /** Raises `Conflict` where other processes could not tell that a person accepted anything. */
  assertKey(): void {
    if (!this.#parts.key()) throw noKey()
  }

  async keep(accepted: AcceptedLog): Promise<void> {
    const record = JSON.stringify(accepted)
    const mac = this.#macOf(record)
    if (mac === null) throw noKey()
    await this.#parts.storage.meta.set(metaKey(accepted.chain), `${mac}\n${record}`)
  }

  async #keyOf(chain: string): Promise<string> {
    const told = (await this.#parts.others.keys()).find((one) => one.chain === chain)
    try {
      return told ? keyPrint(parsePublicKey(told.public_key, chain).raw) : ''
    } catch {
      // A key that is none: it is not compared.
      return ''
    }
  }

  #macOf(record: string): string | null {
    const { key, storage } = this.#parts
    const own = key()
    return own && createHmac('sha256', own).update(`${tag}${storage.id}\n${record}`).digest('hex')
  }
}
