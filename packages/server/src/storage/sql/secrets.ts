import type { SecretStore, StoredSecret } from '../../ports/secret-store.ts'
import type { Db, SecretsTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

/** JSON of any text survives both engines: what they refuse is escaped once more. */
const toJson = (value: unknown): string => encodeText(JSON.stringify(value))
const fromJson = <T>(stored: string): T => JSON.parse(decodeText(stored)) as T

const toRow = (secret: StoredSecret): SecretsTable => ({
  ...secret,
  name: encodeText(secret.name),
  description: encodeText(secret.description),
  capabilities: toJson(secret.capabilities),
  hosts: toJson(secret.hosts),
  agents: toJson(secret.agents),
  last_use: secret.last_use && toJson(secret.last_use),
  rotation_request: secret.rotation_request && toJson(secret.rotation_request),
})

const fromRow = (row: SecretsTable): StoredSecret => ({
  ...row,
  name: decodeText(row.name),
  description: decodeText(row.description),
  capabilities: fromJson(row.capabilities),
  hosts: fromJson(row.hosts),
  agents: fromJson(row.agents),
  last_use: row.last_use === null ? null : fromJson(row.last_use),
  rotation_request: row.rotation_request === null ? null : fromJson(row.rotation_request),
})

export const sqlSecrets = ({ read, write }: Db): SecretStore => ({
  async insert(secret) {
    await write.insertInto('secrets').values(toRow(secret)).execute()
  },

  async find(name) {
    const row = await read
      .selectFrom('secrets')
      .selectAll()
      .where('name', '=', encodeText(name))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async list() {
    const rows = await read.selectFrom('secrets').selectAll().orderBy('name').execute()
    return rows.map(fromRow)
  },

  async replace(current, next) {
    const { id: _id, uses: _uses, last_use: _last, ...changed } = toRow(next)
    const { numUpdatedRows } = await write
      .updateTable('secrets')
      .set(changed)
      .where('id', '=', current.id)
      .where('version', '=', current.version)
      .where('root_id', '=', current.root_id)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async used({ id, version }, use) {
    const { numUpdatedRows } = await write
      .updateTable('secrets')
      .set((eb) => ({ uses: eb('uses', '+', 1), last_use: toJson(use) }))
      .where('id', '=', id)
      .where('version', '=', version)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async delete(name) {
    const { numDeletedRows } = await write
      .deleteFrom('secrets')
      .where('name', '=', encodeText(name))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },
})
