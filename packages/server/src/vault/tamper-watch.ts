import type { VaultState } from '../ports/vault.ts'
import { systemEntry } from './entries.ts'
import type { Root } from './keyring.ts'
import type { VaultParts } from './vault-parts.ts'
import type { Findings, VaultSeal } from './vault-seal.ts'

type Parts = Pick<VaultParts, 'storage' | 'auditLog' | 'ids' | 'log'>
type Shown = Pick<VaultState, 'tampered' | 'reason' | 'remedy'>

const namesMax = 100

const reasonOf = ({ names, isStateKnown }: Findings): string => {
  const count = `${names.length} ${names.length === 1 ? 'secret is' : 'secrets are'}`
  const rows = `${count} not as the vault stored ${names.length === 1 ? 'it' : 'them'} last`
  if (isStateKnown) return rows
  const state = 'the stored state of the vault is an older one, edited or gone'
  return names.length === 0 ? state : `${state}, and ${rows}`
}

const remedyOf = ({ names }: Findings): string =>
  names.length === 0
    ? 'find out who else can write to the database; `gatehouse vault add` the secrets that are missing'
    : 'find out who else can write to the database; then `gatehouse vault delete` each secret that `gatehouse vault status` names, and add it again'

/** Keeps what was last found about the rows of the vault, so that health can say it at once. */
export class TamperWatch {
  readonly #parts: Parts
  readonly #seal: VaultSeal
  #found: Shown | null = null
  #recorded: ReadonlySet<string> = new Set()

  constructor(parts: Parts, seal: VaultSeal) {
    this.#parts = parts
    this.#seal = seal
  }

  /** Last finding; null where every row is as the vault stored it. */
  get found(): Shown | null {
    return this.#found
  }

  /** Compares all rows with the sealed state. Each finding is recorded once. */
  async look(root: Root | null): Promise<void> {
    const { ids, auditLog, log, storage } = this.#parts
    const found = await this.#seal.findings(storage, root)
    const { names, isStateKnown } = found
    if (names.length === 0 && isStateKnown) {
      this.#found = null
      this.#recorded = new Set()
      return
    }
    const tampered = names.slice(0, namesMax)
    this.#found = { tampered, reason: reasonOf(found), remedy: remedyOf(found) }
    const now = new Set(isStateKnown ? names : [...names, ''])
    if ([...now].every((name) => this.#recorded.has(name))) return
    log.error({ names: tampered, isStateKnown }, 'stored secrets are not what the vault wrote')
    const facts = { arguments: { names: tampered }, result: 'error' } as const
    await auditLog.append(systemEntry(ids)('vault.tampered', facts))
    this.#recorded = now
  }
}
