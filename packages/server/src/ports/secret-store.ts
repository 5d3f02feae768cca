/** A secret as it is stored: its scope can be read, its value only with the vault's key. */
export type StoredSecret = {
  readonly id: string
  /** Unique, compared byte by byte. The service's own begin with `service:`. */
  readonly name: string
  readonly description: string
  readonly capabilities: readonly string[]
  readonly hosts: readonly string[]
  readonly agents: readonly string[]
  /** Counts up with each change of the value or of the scope. */
  readonly version: number
  /** Master key around `wrapped_key`. */
  readonly root_id: string
  readonly wrapped_key: string
  readonly sealed_value: string
  readonly created_ms: number
  readonly rotated_ms: number
  readonly scoped_ms: number
  readonly uses: number
  readonly last_use: SecretLastUse | null
  readonly rotation_request: SecretRotationRequest | null
}

export type SecretLastUse = {
  readonly ms: number
  readonly agent: string | null
  readonly capability: string
  readonly host: string | null
}

export type SecretRotationRequest = {
  readonly ms: number
  readonly agent: string
  readonly reason: string
}

export interface SecretStore {
  /** Must raise `Conflict` for a name or id in use. */
  insert(secret: StoredSecret): Promise<void>

  find(name: string): Promise<StoredSecret | null>

  /** Must list all, by name. */
  list(): Promise<readonly StoredSecret[]>

  /**
   * Must store `next` only if the row is still the one of `current`, told by id, version and master key,
   * and say whether it did. Must leave `uses` and `last_use` as they are: they change beside it.
   */
  replace(current: StoredSecret, next: StoredSecret): Promise<boolean>

  /** Must count one use of exactly this version of `secret`, and say whether it is still the stored one. */
  used(secret: StoredSecret, use: SecretLastUse): Promise<boolean>

  /** Must forget every part of it, and say whether there was one. */
  delete(name: string): Promise<boolean>
}
