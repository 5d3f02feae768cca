import type { Vault } from '../ports/vault.ts'
import type { HealthParts } from './health.ts'

/** A vault that is locked holds up only what needs a secret. */
export const vaultHealth = ({
  vault,
}: {
  readonly vault: Pick<Vault, 'state'>
}): ReturnType<NonNullable<HealthParts['vault']>> => {
  const { locked, reason, remedy } = vault.state()
  return locked
    ? { status: 'degraded', reason: `${reason}; ${remedy}`, locked }
    : { status: 'healthy', locked }
}
