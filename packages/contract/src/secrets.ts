import { z } from 'zod'
import { AgentName, Timestamp } from './ids.ts'

/** Shorter values would be found by chance in what agents read, and blacked out there. */
export const secretBytesMin = 8
export const secretBytesMax = 65_536

export const SecretName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/,
    'a name starts with a letter and has at most 64 of letters, digits and _ . -',
  )
export type SecretName = z.infer<typeof SecretName>

/** A capability, a group of them, or a connection that an operator set up for the service itself. */
export const SecretCapability = z
  .string()
  .max(200)
  .regex(
    /^(?:[a-z][a-z0-9_-]*\.(?:\*|[A-Za-z0-9_.-]+)|service:[A-Za-z0-9_.:-]+)$/,
    'expected a capability such as network.credentialed_request, a group such as git.*, or service:<name>',
  )

/** A host as it is written in a URL; without a port it means the usual one. */
export const SecretHost = z
  .string()
  .max(260)
  .transform((host) => host.toLowerCase().replace(/\.(?=$|:\d+$)/, ''))
  .refine(
    (host) =>
      /^(?:(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?$/.test(
        host,
      ),
    'expected a host such as api.example.org or *.example.org, with :port where it is not the usual one',
  )

/** `*` means every agent: written out, never meant by leaving it away. */
export const SecretAgent = z.union([z.literal('*'), AgentName])

const scope = {
  capabilities: z.array(SecretCapability).max(100),
  hosts: z.array(SecretHost).max(100),
  agents: z.array(SecretAgent).max(1000),
}

const value = z.string().min(1).max(secretBytesMax)
const description = z.string().max(500)

/** Where a secret may be used. What is not named is refused, so an empty list refuses everything. */
export const SecretScope = z.object({
  capabilities: z.array(z.string()),
  hosts: z.array(z.string()),
  agents: z.array(z.string()),
})
export type SecretScope = z.infer<typeof SecretScope>

/** Everything about a secret but its value. `service`: the service's own, such as a mail password. */
export const Secret = SecretScope.extend({
  name: z.string(),
  kind: z.enum(['agent', 'service']),
  description: z.string(),
  version: z.int(),
  created_at: Timestamp,
  rotated_at: Timestamp,
  scope_changed_at: Timestamp,
  uses: z.int(),
  last_use: z
    .object({
      at: Timestamp,
      agent: z.string().nullable(),
      capability: z.string(),
      host: z.string().nullable(),
    })
    .nullable(),
  rotation_request: z.object({ at: Timestamp, agent: z.string(), reason: z.string() }).nullable(),
})
export type Secret = z.infer<typeof Secret>

export const SecretList = z.object({ secrets: z.array(Secret) })
export type SecretList = z.infer<typeof SecretList>

export const AddSecret = z.strictObject({
  name: SecretName,
  value,
  description: description.default(''),
  capabilities: scope.capabilities.default([]),
  hosts: scope.hosts.default([]),
  agents: scope.agents.default([]),
})
export type AddSecret = z.infer<typeof AddSecret>

/** Lists replace those there are; what is left out stays. */
export const ChangeSecret = z.strictObject({
  description: description.optional(),
  capabilities: scope.capabilities.optional(),
  hosts: scope.hosts.optional(),
  agents: scope.agents.optional(),
})
export type ChangeSecret = z.infer<typeof ChangeSecret>

export const RotateSecret = z.strictObject({ value })
export type RotateSecret = z.infer<typeof RotateSecret>

export const DeletedSecret = z.object({ name: z.string(), deleted: z.literal(true) })
export type DeletedSecret = z.infer<typeof DeletedSecret>

/** Whether a use would be let through, and what stands in its way. */
export const SecretCheck = z.object({
  name: z.string(),
  agent: z.string(),
  capability: z.string(),
  host: z.string().nullable(),
  allowed: z.boolean(),
  reason: z.string(),
})
export type SecretCheck = z.infer<typeof SecretCheck>

/** `key_file`: opens by itself at each start. `passphrase`: stays locked until somebody unlocks it. */
export const VaultStatus = z.object({
  status: z.enum(['healthy', 'degraded']),
  locked: z.boolean(),
  mode: z.enum(['key_file', 'passphrase']),
  secrets: z.int(),
  /** Whether what is stored is what the vault wrote last, as it was just compared. */
  integrity: z.enum(['verified', 'failed']),
  /** Names of secrets that are not stored as the vault wrote them last, up to 100. They are not used. */
  tampered: z.array(z.string()),
  /** Why it is degraded, locked or tampered with, and what to do; null while it is healthy. */
  reason: z.string().nullable(),
  remedy: z.string().nullable(),
})
export type VaultStatus = z.infer<typeof VaultStatus>

const passphrase = z.string().min(1).max(1024)

/** Without a passphrase the key file opens it. */
export const UnlockVault = z.strictObject({ passphrase: passphrase.optional() })
export type UnlockVault = z.infer<typeof UnlockVault>

/** `passphrase: null` goes back to a key file. `current` is asked for where a passphrase is set. */
export const SetVaultPassphrase = z.strictObject({
  passphrase: passphrase.nullable(),
  current: passphrase.optional(),
})
export type SetVaultPassphrase = z.infer<typeof SetVaultPassphrase>

/** A new master key; `passphrase`: the present one, where one is set. */
export const RotateVaultKey = z.strictObject({ passphrase: passphrase.optional() })
export type RotateVaultKey = z.infer<typeof RotateVaultKey>

/** Of the master key; `secrets`: how many keys it was put around. */
export const RotatedVaultKey = z.object({ secrets: z.int() })
export type RotatedVaultKey = z.infer<typeof RotatedVaultKey>
