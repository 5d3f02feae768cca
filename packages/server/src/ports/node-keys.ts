import type { NodeKeys } from '@gatehouse/contract'

/** Keys that a node must have in common with the others, as they lie in the data directory. */
export interface NodeKeyFiles {
  /** Must read the files now: a key may be another since the start. */
  read(): Pick<NodeKeys, 'vault_key' | 'policy_key' | 'authority'>
}
