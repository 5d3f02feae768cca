import { parseStored } from '../../domain/parse-stored.ts'
import type { ServiceStore, StoredService } from '../../ports/services.ts'
import { first } from './queries.ts'
import { flag } from './row-codec.ts'
import type { Db, ServicesTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

type Stored = Omit<ServicesTable, 'lease_owner' | 'lease_ms'>

const fromRow = (row: Stored): StoredService => {
  const { secrets_json, agents_json, full, settings_json, cursor, reason, status, ...rest } = row
  return {
    ...rest,
    settings_json: decodeText(settings_json),
    secrets: parseStored(secrets_json, 'services.secrets_json'),
    agents: parseStored(agents_json, 'services.agents_json'),
    status: status as StoredService['status'],
    cursor: decodeTextOrNull(cursor),
    full: flag.decode(full, 'services.full'),
    reason: decodeTextOrNull(reason),
  }
}

const toRow = ({
  secrets,
  agents,
  full,
  settings_json,
  cursor,
  reason,
  ...rest
}: StoredService) => ({
  ...rest,
  settings_json: encodeText(settings_json),
  secrets_json: JSON.stringify(secrets),
  agents_json: JSON.stringify(agents),
  full: flag.encode(full),
  cursor: encodeTextOrNull(cursor),
  reason: encodeTextOrNull(reason),
})

const columns = [
  'name',
  'kind',
  'settings_json',
  'secrets_json',
  'agents_json',
  'connected_ms',
  'generation',
  'status',
  'cursor',
  'syncs',
  'full',
  'last_sync_ms',
  'next_sync_ms',
  'failing_since_ms',
  'failures',
  'reason',
  'progress_json',
] as const satisfies readonly (keyof Stored)[]

export const sqlServices = ({ read, write }: Db): ServiceStore => ({
  async put(service) {
    const row = { ...toRow(service), lease_owner: null, lease_ms: null }
    const { name: _name, ...changed } = row
    await write
      .insertInto('services')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(changed))
      .execute()
  },

  find: (name) =>
    first(
      read.selectFrom('services').select(columns).where('name', '=', encodeText(name)),
      fromRow,
    ),

  async list() {
    const rows = await read.selectFrom('services').select(columns).orderBy('name').execute()
    return rows.map(fromRow)
  },

  async remove(name) {
    await write.deleteFrom('services').where('name', '=', name).execute()
  },

  async lease(name, owner, { nowMs, untilMs }) {
    const { numUpdatedRows } = await write
      .updateTable('services')
      .set({ lease_owner: owner, lease_ms: untilMs })
      .where('name', '=', name)
      .where((eb) =>
        eb.or([
          eb('lease_owner', 'is', null),
          eb('lease_owner', '=', owner),
          eb('lease_ms', '<=', nowMs),
        ]),
      )
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async release(name, owner) {
    await write
      .updateTable('services')
      .set({ lease_owner: null, lease_ms: null })
      .where('name', '=', name)
      .where('lease_owner', '=', owner)
      .execute()
  },

  async progress({ name, generation }, { full, cursor, reason, ...rest }, owner) {
    const change = {
      ...rest,
      ...(full === undefined ? {} : { full: flag.encode(full) }),
      ...(cursor === undefined ? {} : { cursor: encodeTextOrNull(cursor) }),
      ...(reason === undefined ? {} : { reason: encodeTextOrNull(reason) }),
    }
    // Also where nothing else changes the row is touched: whoever asks wants to know whether it may.
    const { numUpdatedRows } = await write
      .updateTable('services')
      .set({ ...change, generation })
      .where('name', '=', name)
      .where('generation', '=', generation)
      .$if(owner !== undefined, (query) => query.where('lease_owner', '=', owner as string))
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },
})
