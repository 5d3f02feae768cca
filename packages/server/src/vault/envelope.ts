import { GatehouseError } from '@gatehouse/contract'
import type { StoredSecret } from '../ports/secret-store.ts'
import type { Root } from './keyring.ts'
import { newKey, seal, unseal } from './seal.ts'

type Facts = Pick<StoredSecret, 'id' | 'name' | 'version' | 'capabilities' | 'hosts' | 'agents'>

/** @SECURITY Sealed values prove whose they are: rows and scopes cannot change places; envelope.test.ts. */
const boundOf = (install: string, what: 'key' | 'value', facts: Facts): string => {
  const { id, name, version, capabilities, hosts, agents } = facts
  return `gatehouse-secret-v1|${JSON.stringify([
    what,
    install,
    id,
    name,
    version,
    capabilities,
    hosts,
    agents,
  ])}`
}

export type Envelope = Pick<StoredSecret, 'root_id' | 'wrapped_key' | 'sealed_value'>

/** A key of its own for this version of the secret, around the value; the master key around that. */
export function sealValue(root: Root, facts: Facts, value: string): Envelope {
  const key = newKey()
  try {
    return {
      root_id: root.id,
      wrapped_key: seal(root.key, key, boundOf(root.install, 'key', facts)),
      sealed_value: seal(key, Buffer.from(value, 'utf8'), boundOf(root.install, 'value', facts)),
    }
  } finally {
    key.fill(0)
  }
}

const openKey = (root: Root, secret: StoredSecret): Buffer => {
  const key =
    secret.root_id === root.id
      ? unseal(root.key, secret.wrapped_key, boundOf(root.install, 'key', secret))
      : null
  if (!key) throw new GatehouseError('VaultTampered', { what: `the secret ${secret.name}` })
  return key
}

export function openValue(root: Root, secret: StoredSecret): string {
  const key = openKey(root, secret)
  try {
    const plain = unseal(key, secret.sealed_value, boundOf(root.install, 'value', secret))
    if (!plain) throw new GatehouseError('VaultTampered', { what: `the secret ${secret.name}` })
    const value = plain.toString('utf8')
    plain.fill(0)
    return value
  } finally {
    key.fill(0)
  }
}

/** The same value under another master key. */
export function rewrap(from: Root, to: Root, secret: StoredSecret): StoredSecret {
  const key = openKey(from, secret)
  try {
    const wrapped_key = seal(to.key, key, boundOf(to.install, 'key', secret))
    return { ...secret, root_id: to.id, wrapped_key }
  } finally {
    key.fill(0)
  }
}
