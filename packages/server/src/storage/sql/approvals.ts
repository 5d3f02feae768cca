import { GatehouseError } from '@gatehouse/contract'
import type { Delivered } from '../../domain/approvals/approval.ts'
import { isOpenCall } from '../../domain/approvals/outcome.ts'
import type { ApprovalStore, StoredApproval } from '../../ports/approvals.ts'
import { first, page } from './queries.ts'
import { flag, jsonOrNull, rowCodec, text, textOrNull } from './row-codec.ts'
import type { ApprovalsTable, Db } from './tables.ts'
import { encodeText } from './text.ts'

const deliveredStates: readonly Delivered[] = ['no', 'yes', 'sending']

const delivered = {
  encode: (value: Delivered): number => deliveredStates.indexOf(value),
  decode: (cell: number): Delivered => deliveredStates[cell] ?? 'yes',
}

const { toRow, fromRow } = rowCodec<StoredApproval, ApprovalsTable>('approvals', {
  agent: text,
  capability: text,
  arguments_json: text,
  bound_json: text,
  request_id: text,
  reason: textOrNull,
  rule: jsonOrNull,
  critical: flag,
  preview: jsonOrNull,
  decided_by: textOrNull,
  decision_reason: textOrNull,
  result: jsonOrNull,
  result_text: textOrNull,
  delivered,
  edit: jsonOrNull,
  sent_json: textOrNull,
  agent_reason: textOrNull,
})

const changes = ({ write }: Db): Pick<ApprovalStore, 'insert' | 'replace'> => ({
  async insert(approval) {
    await write.insertInto('approvals').values(toRow(approval)).execute()
  },

  async replace(current, next) {
    const { id, ...changed } = toRow(next)
    // @SECURITY One statement compares and sets; sqlite.test.ts.
    const row = await write
      .updateTable('approvals')
      .set(changed)
      .where('id', '=', current.id)
      .where('status', '=', current.status)
      .where('execution', '=', current.execution)
      .where('exec_id', 'is not distinct from', current.exec_id)
      .where('digest', '=', current.digest)
      .where('delivered', '=', delivered.encode(current.delivered))
      .returningAll()
      .executeTakeFirst()
    if (row) return { changed: true, approval: fromRow(row) }
    const standing = await write
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', current.id)
      .executeTakeFirst()
    if (!standing) throw new GatehouseError('ApprovalNotFound', { approval_id: current.id })
    return { changed: false, approval: fromRow(standing) }
  },
})

const lookups = ({
  read,
}: Db): Pick<ApprovalStore, 'find' | 'findOpenCall' | 'list' | 'countPending'> => ({
  find: (id) =>
    first(read.selectFrom('approvals').selectAll().where('id', '=', encodeText(id)), fromRow),

  async findOpenCall(agent, callKey) {
    const row = await read
      .selectFrom('approvals')
      .selectAll()
      .where('agent', '=', encodeText(agent))
      .where('call_key', '=', encodeText(callKey))
      .orderBy('requested_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    const newest = row ? fromRow(row) : null
    return newest && isOpenCall(newest) ? newest : null
  },

  async list({ status, agent, capability, since_ms, until_ms, limit, offset }) {
    const order = status === 'pending' ? 'asc' : 'desc'
    let found = read.selectFrom('approvals').selectAll()
    if (status === 'decided') found = found.where('status', '<>', 'pending')
    else if (status !== undefined) found = found.where('status', '=', status)
    if (agent !== undefined) found = found.where('agent', '=', encodeText(agent))
    if (capability !== undefined) found = found.where('capability', '=', encodeText(capability))
    if (since_ms !== undefined) found = found.where('requested_ms', '>=', since_ms)
    if (until_ms !== undefined) found = found.where('requested_ms', '<=', until_ms)
    const { values: approvals, total } = await page(
      found.orderBy('requested_ms', order).orderBy('id', order),
      { limit, offset },
      fromRow,
    )
    return { approvals, total }
  },

  async countPending(agent) {
    const { pending } = await read
      .selectFrom('approvals')
      .select((eb) => eb.fn.countAll<number>().as('pending'))
      .where('status', '=', 'pending')
      .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
      .executeTakeFirstOrThrow()
    return pending
  },
})

const dueWork = ({
  read,
}: Db): Pick<ApprovalStore, 'listByExecution' | 'listExpired' | 'nextExpiry'> => ({
  async listByExecution(state, limit) {
    const rows = await read
      .selectFrom('approvals')
      .selectAll()
      .where('status', '=', 'approved')
      .where('execution', '=', state)
      .orderBy('requested_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async listExpired(nowMs, wallMs, limit) {
    const rows = await read
      .selectFrom('approvals')
      .selectAll()
      .where('status', '=', 'pending')
      .where((eb) => eb.or([eb('expires_ms', '<=', nowMs), eb('expires_wall_ms', '<=', wallMs)]))
      .orderBy('requested_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async nextExpiry(agent) {
    const row = await read
      .selectFrom('approvals')
      .select('expires_ms')
      .where('status', '=', 'pending')
      .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
      .orderBy('expires_ms')
      .limit(1)
      .executeTakeFirst()
    return row?.expires_ms ?? null
  },
})

export const sqlApprovals = (db: Db): ApprovalStore => ({
  ...changes(db),
  ...lookups(db),
  ...dueWork(db),
})
