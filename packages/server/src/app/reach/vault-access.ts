import type {
  AddSecret,
  ChangeSecret,
  DeletedSecret,
  RotatedVaultKey,
  RotateSecret,
  RotateVaultKey,
  Secret,
  SecretCheck,
  SetVaultPassphrase,
  UnlockVault,
  VaultStatus,
} from '@gatehouse/contract'
import type { Gates } from '../../ports/gates.ts'
import type { Vault, VaultEntry } from '../../ports/vault.ts'
import { askOthers } from '../call/ask-gates.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Op } from '../call/op.ts'

type Named = { readonly name: string }

/** Vault as operators use it. No answer has a value in it. */
export interface VaultUseCases {
  showVault(op: Op): Promise<VaultStatus>
  lockVault(op: Op): Promise<VaultStatus>
  unlockVault(op: Op, input: UnlockVault): Promise<VaultStatus>
  setVaultPassphrase(op: Op, input: SetVaultPassphrase): Promise<VaultStatus>
  rotateVaultKey(op: Op, input: RotateVaultKey): Promise<RotatedVaultKey>
  listSecrets(op: Op): Promise<readonly Secret[]>
  showSecret(op: Op, input: Named): Promise<Secret>
  addSecret(op: Op, input: AddSecret): Promise<Secret>
  changeSecret(op: Op, input: Named & ChangeSecret): Promise<Secret>
  rotateSecret(op: Op, input: Named & RotateSecret): Promise<Secret>
  deleteSecret(op: Op, input: Named): Promise<DeletedSecret>
  checkSecret(
    op: Op,
    input: Named & { agent: string; capability: string; host: string | null },
  ): Promise<SecretCheck>
}

const entryOf =
  (op: Op): VaultEntry =>
  (act, facts) =>
    actDraft(op, act, facts)

/** The vault of the node is open or locked in all its processes at once. */
export function bindVault({
  vault,
  gates,
}: {
  readonly vault: Vault
  readonly gates: Gates | null
}): VaultUseCases {
  // The others follow, and tell nobody.
  const leading = gates?.index === 0 ? gates : null
  /** Kept like the key that it leads to, for processes that start later. */
  let opened: string | null = null
  leading?.answer('vault', async () => {
    const { locked } = vault.state()
    return { locked, passphrase: locked ? null : opened }
  })
  const status = async (): Promise<VaultStatus> => {
    await vault.look()
    return { ...vault.state(), secrets: (await vault.list()).length }
  }
  return {
    showVault: status,
    async lockVault(op) {
      await vault.lock(entryOf(op))
      opened = null
      await askOthers(leading, 'lock vault', null)
      return status()
    },
    async unlockVault(op, { passphrase }) {
      await vault.unlock(passphrase ?? null, entryOf(op))
      opened = passphrase ?? null
      leading?.tell({ kind: 'vault unlocked', passphrase: opened })
      return status()
    },
    async setVaultPassphrase(op, input) {
      await vault.relock(input, entryOf(op))
      opened = input.passphrase
      return status()
    },
    rotateVaultKey: async (op, { passphrase }) => ({
      secrets: await vault.rotateKey(passphrase ?? null, entryOf(op)),
    }),
    listSecrets: () => vault.list(),
    showSecret: (_op, { name }) => vault.show(name),
    addSecret: (op, input) => vault.add(input, entryOf(op)),
    changeSecret: (op, { name, ...change }) => vault.change(name, change, entryOf(op)),
    rotateSecret: (op, { name, value }) => vault.rotate(name, { value }, entryOf(op)),
    async deleteSecret(op, { name }) {
      await vault.remove(name, entryOf(op))
      return { name, deleted: true }
    },
    checkSecret: (_op, input) => vault.check(input),
  }
}
