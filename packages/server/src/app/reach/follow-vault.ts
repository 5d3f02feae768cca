import type { Gates } from '../../ports/gates.ts'
import type { Op } from '../call/op.ts'
import type { VaultUseCases } from './vault-access.ts'

type Deps = {
  readonly gates: Pick<Gates, 'ask'>
  readonly vault: Pick<VaultUseCases, 'showVault' | 'lockVault' | 'unlockVault'>
}

/**
 * Opens the vault of a process that starts where it is open in the process that people talk to, and locks it where an operator
 * locked it. @SECURITY Until the answer stands: an operator who locked or unlocked it in between was told that all processes
 * follow, and what was asked before would undo it here; follow-vault.test.ts.
 */
export async function followVault(op: Op, { gates, vault }: Deps): Promise<void> {
  let lockedHere = false
  let there = await gates.ask(0, 'vault', null)
  for (;;) {
    const { locked } = await vault.showVault(op)
    if (there.locked && !locked) {
      await vault.lockVault(op)
      lockedHere = true
    } else if (!there.locked && locked) {
      const { passphrase } = there
      if (passphrase !== null) await vault.unlockVault(op, { passphrase })
      // Without a passphrase it is the key file that opens it, as it did before.
      else if (lockedHere) await vault.unlockVault(op, {})
    }
    const before = there
    there = await gates.ask(0, 'vault', null)
    // Messages come in order: a change after this answer is heard, and followed, after what was done by it.
    if (there.locked === before.locked && there.passphrase === before.passphrase) return
  }
}
