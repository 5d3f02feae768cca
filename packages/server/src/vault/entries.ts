import { plainDraft } from '../domain/audit/entry.ts'
import type { Ids } from '../ports/ids.ts'
import type { SecretUse } from '../ports/secrets.ts'
import type { VaultEntry } from '../ports/vault.ts'

type By = {
  readonly actor: string
  readonly request_id: string
  readonly session_id: string | null
}

const entryBy =
  (by: By): VaultEntry =>
  (capability, facts) =>
    plainDraft({ ...by, capability, ...facts })

/** Entries of the service itself. */
export const systemEntry = (ids: Ids): VaultEntry =>
  entryBy({ actor: 'system', request_id: ids.next('req'), session_id: null })

/** Entries for the use of a secret by a call of an agent, or a connection of the service. */
export const useEntry = (ids: Ids, use: SecretUse): VaultEntry =>
  entryBy({
    actor: use.agent === null ? 'system' : `agent:${use.agent}`,
    request_id: use.request_id ?? ids.next('req'),
    session_id: use.session_id ?? null,
  })
