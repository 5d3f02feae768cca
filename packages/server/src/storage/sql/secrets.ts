import type { SecretStore, StoredSecret } from '../../ports/secret-store.ts'
import { first } from './queries.ts'
import { json, orNull, rowCodec, text } from './row-codec.ts'
import type { Db, SecretsTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

/** JSON of any text survives both engines: what they refuse is escaped once more. */
const escapedJson = {
  encode: (value: unknown): string => encodeText(json.encode(value)),
  decode: (cell: string, place: string) => json.decode(decodeText(cell), place),
}

const { toRow, fromRow } = rowCodec<StoredSecret, SecretsTable>('secrets', {
  name: text,
  description: text,
  capabilities: escapedJson,
  hosts: escapedJson,
  agents: escapedJson,
  last_use: orNull(escapedJson),
  rotation_request: orNull(escapedJson),
})

export const sqlSecrets = ({ read, write }: Db): SecretStore => ({
  async insert(secret) {
    await write.insertInto('secrets').values(toRow(secret)).execute()
  },

  find: (name) =>
    first(read.selectFrom('secrets').selectAll().where('name', '=', encodeText(name)), fromRow),

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
      .set((eb) => ({ uses: eb('uses', '+', 1), last_use: escapedJson.encode(use) }))
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
