import type { StoredUserToken, UserTokenStore } from '../../ports/people.ts'
import { first } from './queries.ts'
import { rowCodec, text } from './row-codec.ts'
import type { Db, UserTokensTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredUserToken, UserTokensTable>('user_tokens', {
  label: text,
})

export const sqlUserTokens = ({ read, write }: Db): UserTokenStore => {
  const findBy = async (column: 'id' | 'token_hash', value: string) => {
    return first(
      read.selectFrom('user_tokens').selectAll().where(column, '=', encodeText(value)),
      fromRow,
    )
  }
  return {
    async insert(token) {
      await write.insertInto('user_tokens').values(toRow(token)).execute()
    },

    find: (id) => findBy('id', id),
    findByHash: (hash) => findBy('token_hash', hash),

    async list() {
      const rows = await read
        .selectFrom('user_tokens')
        .selectAll()
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc')
        .execute()
      return rows.map(fromRow)
    },

    async revoke(id, ms) {
      const { numUpdatedRows } = await write
        .updateTable('user_tokens')
        .set({ revoked_ms: ms })
        .where('id', '=', encodeText(id))
        .where('revoked_ms', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    async used(id, ms) {
      await write
        .updateTable('user_tokens')
        .set({ last_used_ms: ms })
        .where('id', '=', encodeText(id))
        .execute()
    },
  }
}
