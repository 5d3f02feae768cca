import type { GrantMatch } from '@gatehouse/contract'

export type StoredGrant = {
  readonly id: string
  readonly agent: string
  readonly capability: string
  /** Of the capability when the call was approved; with another definition it lets nothing run. */
  readonly definition_hash: string
  readonly match: GrantMatch
  /** The call key and the arguments that `same_arguments` means, else null. */
  readonly call_key: string | null
  readonly arguments_json: string | null
  readonly approval_id: string
  readonly created_ms: number
  readonly created_by: string
  /** On the service clock. */
  readonly expires_ms: number
  /** The same moment on the wall clock; whichever comes first ends it. */
  readonly expires_wall_ms: number
  readonly uses_max: number | null
  readonly used: number
  readonly last_used_ms: number | null
  readonly revoked_ms: number | null
  readonly revoked_by: string | null
}

/** A call that would have to ask. */
export type GrantQuestion = {
  readonly agent: string
  readonly capability: string
  readonly definition_hash: string
  readonly call_key: string
}

export type GrantMoment = { readonly nowMs: number; readonly wallMs: number }

export interface GrantStore {
  insert(grant: StoredGrant): Promise<void>

  find(id: string): Promise<StoredGrant | null>

  /**
   * Must return the ids of grants that let this call run now: of this agent, capability and definition,
   * for all arguments or these, before both expiries, with uses left, not revoked. Oldest first.
   */
  listUsable(question: GrantQuestion, moment: GrantMoment): Promise<readonly string[]>

  /**
   * Must count one more use only if the grant is then still unexpired, unrevoked and has uses left, in
   * one step that no other connection or node can split. Must say whether it did.
   */
  use(id: string, moment: GrantMoment): Promise<boolean>

  /** Must set the time only where none is set, and say whether it did. */
  revoke(id: string, ms: number, by: string): Promise<boolean>

  /** Must revoke all of an agent that are not revoked yet, and return their ids, sorted. */
  revokeAllOf(agent: string, ms: number, by: string): Promise<readonly string[]>

  /** Must list the newest first, with the total. `usable` leaves out what lets nothing run any more. */
  list(filter: {
    readonly agent?: string
    readonly usable?: GrantMoment
    readonly limit: number
    readonly offset: number
  }): Promise<{ readonly grants: readonly StoredGrant[]; readonly total: number }>
}
