import { GatehouseError, type Secret, secretBytesMax, secretBytesMin } from '@gatehouse/contract'
import { servicePrefix } from '../domain/secrets/scope.ts'
import type { StoredSecret } from '../ports/secret-store.ts'

const iso = (ms: number): string => new Date(ms).toISOString()

/** A secret as people see it: everything but the value. */
export const secretRecord = (stored: StoredSecret): Secret => {
  const { last_use, rotation_request } = stored
  return {
    name: stored.name,
    kind: stored.name.startsWith(servicePrefix) ? 'service' : 'agent',
    description: stored.description,
    capabilities: [...stored.capabilities],
    hosts: [...stored.hosts],
    agents: [...stored.agents],
    version: stored.version,
    created_at: iso(stored.created_ms),
    rotated_at: iso(stored.rotated_ms),
    scope_changed_at: iso(stored.scoped_ms),
    uses: stored.uses,
    last_use: last_use && {
      at: iso(last_use.ms),
      agent: last_use.agent,
      capability: last_use.capability,
      host: last_use.host,
    },
    rotation_request: rotation_request && {
      at: iso(rotation_request.ms),
      agent: rotation_request.agent,
      reason: rotation_request.reason,
    },
  }
}

/** @SECURITY A value too short to be told from chance could not be blacked out; vault.test.ts. */
export function assertKeepable(name: string, value: string): void {
  const refuse = (detail: string): never => {
    throw new GatehouseError('SecretRefused', { name, detail })
  }
  const size = Buffer.byteLength(value, 'utf8')
  if (size < secretBytesMin)
    refuse(
      `it has ${size} bytes; at least ${secretBytesMin} are needed to find it again in answers`,
    )
  if (size > secretBytesMax) refuse(`it has ${size} bytes; at most ${secretBytesMax} fit`)
  if (!value.isWellFormed()) refuse('it is not well-formed Unicode')
  if (new Set(value).size < 3) refuse('it is one character again and again')
}
