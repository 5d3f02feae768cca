import type { PolicyDigests } from '../domain/policy/merge-files.ts'

/** Policy that this node last had in common with the others. */
export type PolicyBase = {
  /** Id of the store that they shared it in. */
  readonly store: string
  readonly version: number
  /** Of the row that it came with, so that another one of the same version shows. */
  readonly mac: string
  readonly files: PolicyDigests
}

/** Key and base that a node keeps for the policy that nodes share. */
export interface PolicyShare {
  /** Must return the key that the nodes have in common and the database has not; null where there is none yet. */
  key(): string | null

  /** Must make the key, for the first node. */
  createKey(): string

  /** Must be null where the node never shared a policy. Must raise where what it kept cannot be read. */
  base(): PolicyBase | null

  keepBase(base: PolicyBase): void
}
