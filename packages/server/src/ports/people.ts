import type { PersonRole, Role } from '@gatehouse/contract'

export type StoredUserToken = {
  readonly id: string
  readonly label: string
  readonly role: Role
  /** Of the role `hook`: the agent in whose name it asks. */
  readonly agent: string | null
  readonly token_hash: string
  readonly created_ms: number
  readonly last_used_ms: number | null
  readonly revoked_ms: number | null
}

export interface UserTokenStore {
  insert(token: StoredUserToken): Promise<void>

  /** Must return revoked ones too; the caller decides. */
  findByHash(hash: string): Promise<StoredUserToken | null>

  find(id: string): Promise<StoredUserToken | null>

  /** Must return all, newest first. */
  list(): Promise<readonly StoredUserToken[]>

  /** Must set the time only where none is set, and say whether it did. */
  revoke(id: string, ms: number): Promise<boolean>

  used(id: string, ms: number): Promise<void>
}

/** A person who logs in at the dashboard with a password. */
export type StoredOperator = {
  readonly name: string
  readonly role: PersonRole
  readonly password_hash: string
  readonly created_ms: number
  readonly password_changed_ms: number
  /** Set for the one that a setup link made, so that no two of them can. */
  readonly slot: 'first' | null
}

export interface OperatorStore {
  /** Must raise `Conflict` for a name or a slot in use. */
  insert(operator: StoredOperator): Promise<void>

  find(name: string): Promise<StoredOperator | null>

  /** Must return all, oldest first. */
  list(): Promise<readonly StoredOperator[]>

  /** Must say whether there is one of that name. */
  setPassword(
    name: string,
    next: Pick<StoredOperator, 'password_hash' | 'password_changed_ms' | 'role'>,
  ): Promise<boolean>

  remove(name: string): Promise<boolean>
}

/** A login. Its id is known to the browser only; times are of the service clock. */
export type StoredWebSession = {
  readonly id_hash: string
  readonly operator: string
  readonly created_ms: number
  readonly expires_ms: number
}

export interface WebSessionStore {
  insert(session: StoredWebSession): Promise<void>

  /** Must return expired ones too; the caller decides. */
  findByHash(hash: string): Promise<StoredWebSession | null>

  /** Must return all, expired ones too, newest first. */
  list(): Promise<readonly StoredWebSession[]>

  /** Must say whether it was there. */
  end(hash: string): Promise<boolean>

  /** Must end all of an operator but the one named, and say how many those were. */
  endAllOf(operator: string, exceptHash: string | null): Promise<number>

  /** Must end those that expire at or before this time. */
  endExpired(ms: number): Promise<void>
}
