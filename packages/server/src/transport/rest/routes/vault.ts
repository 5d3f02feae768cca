import {
  AddSecret,
  ChangeSecret,
  DeletedSecret,
  RotatedVaultKey,
  RotateSecret,
  RotateVaultKey,
  Secret,
  SecretCheck,
  SecretList,
  SetVaultPassphrase,
  UnlockVault,
  VaultStatus,
} from '@gatehouse/contract'
import { z } from 'zod'
import { created, defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryText } from '../fields.ts'

const permission = 'vault.manage'
const params = z.object({ name: pathName })
/** A value of 64 KiB, each byte as an escape of six. */
const bodyBytesMax = 512 * 1024

const status = defineRoute({
  method: 'GET',
  path: '/api/vault',
  operationId: 'showVault',
  summary: 'Whether the vault is locked, how it is locked, and how many secrets it holds',
  permission,
  response: VaultStatus,
  errors: [],
  handle: async (op, app) => ok(await app.showVault(op)),
})

const lock = defineRoute({
  method: 'POST',
  path: '/api/vault/lock',
  operationId: 'lockVault',
  summary: 'Forget the master key until the vault is unlocked; what needs no secret goes on',
  permission,
  response: VaultStatus,
  errors: [],
  handle: async (op, app) => ok(await app.lockVault(op)),
})

const unlock = defineRoute({
  method: 'POST',
  path: '/api/vault/unlock',
  operationId: 'unlockVault',
  summary: 'Open the vault with its passphrase, or with its key file',
  permission,
  body: UnlockVault,
  response: VaultStatus,
  errors: ['WrongPassphrase', 'VaultConflict', 'VaultLocked', 'TooManyLogins'],
  handle: async (op, app, { body }) => ok(await app.unlockVault(op, body)),
})

const passphrase = defineRoute({
  method: 'POST',
  path: '/api/vault/passphrase',
  operationId: 'setVaultPassphrase',
  summary: 'Set or change the passphrase of the vault, or with null go back to a key file',
  permission,
  body: SetVaultPassphrase,
  response: VaultStatus,
  errors: [
    'WrongPassphrase',
    'VaultConflict',
    'VaultLocked',
    'VaultTampered',
    'WeakPassword',
    'TooManyLogins',
  ],
  handle: async (op, app, { body }) => ok(await app.setVaultPassphrase(op, body)),
})

const rotateKey = defineRoute({
  method: 'POST',
  path: '/api/vault/rotate-key',
  operationId: 'rotateVaultKey',
  summary: 'Make a new master key, and put it around every secret in place of the old one',
  permission,
  body: RotateVaultKey,
  response: RotatedVaultKey,
  errors: ['WrongPassphrase', 'VaultConflict', 'VaultLocked', 'VaultTampered', 'TooManyLogins'],
  handle: async (op, app, { body }) => ok(await app.rotateVaultKey(op, body)),
})

const list = defineRoute({
  method: 'GET',
  path: '/api/vault/secrets',
  operationId: 'listSecrets',
  summary: 'Every secret: its scope and its last use, never its value',
  permission,
  response: SecretList,
  errors: [],
  handle: async (op, app) => ok({ secrets: await app.listSecrets(op) }),
})

const add = defineRoute({
  method: 'POST',
  path: '/api/vault/secrets',
  operationId: 'addSecret',
  summary: 'Keep a new secret; its value is in no answer, this one included',
  permission,
  body: AddSecret,
  bodyBytesMax,
  response: Secret,
  success: 201,
  errors: ['SecretExists', 'SecretRefused', 'QuotaExceeded', 'VaultLocked'],
  handle: async (op, app, { body }) => created(await app.addSecret(op, body)),
})

const show = defineRoute({
  method: 'GET',
  path: '/api/vault/secrets/:name',
  operationId: 'showSecret',
  summary: 'One secret without its value',
  permission,
  params,
  response: Secret,
  errors: ['SecretNotFound'],
  handle: async (op, app, { params: input }) => ok(await app.showSecret(op, input)),
})

const change = defineRoute({
  method: 'PATCH',
  path: '/api/vault/secrets/:name',
  operationId: 'changeSecret',
  summary: 'Change where a secret may be used; lists that are given replace those there are',
  permission,
  params,
  body: ChangeSecret,
  response: Secret,
  errors: ['SecretNotFound', 'VaultLocked', 'VaultTampered'],
  handle: async (op, app, { params: { name }, body }) =>
    ok(await app.changeSecret(op, { name, ...body })),
})

const rotate = defineRoute({
  method: 'POST',
  path: '/api/vault/secrets/:name/rotate',
  operationId: 'rotateSecret',
  summary: 'Give a secret a new value; nothing is left of the old one',
  permission,
  params,
  body: RotateSecret,
  bodyBytesMax,
  response: Secret,
  errors: ['SecretNotFound', 'SecretRefused', 'VaultLocked', 'VaultTampered'],
  handle: async (op, app, { params: { name }, body }) =>
    ok(await app.rotateSecret(op, { name, ...body })),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/vault/secrets/:name',
  operationId: 'deleteSecret',
  summary: 'Delete a secret; calls that name it are refused from now on',
  permission,
  params,
  response: DeletedSecret,
  errors: ['SecretNotFound'],
  handle: async (op, app, { params: input }) => ok(await app.deleteSecret(op, input)),
})

const check = defineRoute({
  method: 'GET',
  path: '/api/vault/secrets/:name/check',
  operationId: 'checkSecret',
  summary: 'Whether an agent may use a secret with a capability at a host, and if not why',
  permission,
  params,
  query: z.strictObject({
    agent: queryText(63),
    capability: queryText(200),
    host: queryText(260).optional(),
  }),
  response: SecretCheck,
  errors: ['SecretNotFound'],
  handle: async (op, app, { params: { name }, query: { agent, capability, host } }) =>
    ok(await app.checkSecret(op, { name, agent, capability, host: host ?? null })),
})

export const vaultRoutes: readonly Route[] = [
  status,
  lock,
  unlock,
  passphrase,
  rotateKey,
  list,
  add,
  show,
  change,
  rotate,
  remove,
  check,
]
