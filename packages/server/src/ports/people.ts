import type { Role } from '@gatehouse/contract'

export type StoredUserToken = {
  readonly id: string
  readonly label: string
  readonly role: Role
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
