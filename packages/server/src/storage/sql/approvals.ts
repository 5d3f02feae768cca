import { GatehouseError } from '@gatehouse/contract'
import type { ApprovalStore, StoredApproval } from '../../ports/approvals.ts'
import type { ApprovalsTable, Db, Flag } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

const flag = (value: boolean): Flag => (value ? 1 : 0)
const jsonOrNull = (value: unknown): string | null =>
  value === null ? null : JSON.stringify(value)
const parseOrNull = <T>(stored: string | null): T | null =>
  stored === null ? null : (JSON.parse(stored) as T)

const toRow = (approval: StoredApproval): ApprovalsTable => ({
  ...approval,
  agent: encodeText(approval.agent),
  capability: encodeText(approval.capability),
  arguments_json: encodeText(approval.arguments_json),
  bound_json: encodeText(approval.bound_json),
  request_id: encodeText(approval.request_id),
  reason: encodeTextOrNull(approval.reason),
  rule: jsonOrNull(approval.rule),
  critical: flag(approval.critical),
  preview: jsonOrNull(approval.preview),
  decided_by: encodeTextOrNull(approval.decided_by),
  decision_reason: encodeTextOrNull(approval.decision_reason),
  result: jsonOrNull(approval.result),
  result_text: encodeTextOrNull(approval.result_text),
  delivered: flag(approval.delivered),
  edit: jsonOrNull(approval.edit),
})

const fromRow = (row: ApprovalsTable): StoredApproval => ({
  ...row,
  agent: decodeText(row.agent),
  capability: decodeText(row.capability),
  arguments_json: decodeText(row.arguments_json),
  bound_json: decodeText(row.bound_json),
  request_id: decodeText(row.request_id),
  status: row.status as StoredApproval['status'],
  reason: decodeTextOrNull(row.reason),
  rule: parseOrNull(row.rule),
  critical: row.critical === 1,
  preview: parseOrNull(row.preview),
  decided_by: decodeTextOrNull(row.decided_by),
  decision_reason: decodeTextOrNull(row.decision_reason),
  execution: row.execution as StoredApproval['execution'],
  result: parseOrNull(row.result),
  result_text: decodeTextOrNull(row.result_text),
  delivered: row.delivered === 1,
  edit: parseOrNull(row.edit),
})

export const sqlApprovals = ({ read, write }: Db): ApprovalStore => ({
  async insert(approval) {
    await write.insertInto('approvals').values(toRow(approval)).execute()
  },

  async find(id) {
    const row = await read
      .selectFrom('approvals')
      .selectAll()
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async replace(current, next) {
    const { id, ...changed } = toRow(next)
    // @SECURITY One statement compares and sets: "lets exactly one of many deciders win" fails without.
    const row = await write
      .updateTable('approvals')
      .set(changed)
      .where('id', '=', current.id)
      .where('status', '=', current.status)
      .where('execution', '=', current.execution)
      .where('exec_id', 'is not distinct from', current.exec_id)
      .where('digest', '=', current.digest)
      .where('delivered', '=', flag(current.delivered))
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

  async findOpenCall(agent, callKey) {
    const row = await read
      .selectFrom('approvals')
      .selectAll()
      .where('agent', '=', encodeText(agent))
      .where('call_key', '=', encodeText(callKey))
      .where((eb) =>
        eb.or([
          eb('status', '=', 'pending'),
          eb.and([eb('status', 'in', ['approved', 'rejected']), eb('delivered', '=', 0)]),
        ]),
      )
      .orderBy('requested_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async list({ status, agent, limit, offset }) {
    const matching = read
      .selectFrom('approvals')
      .$if(status !== undefined, (query) => query.where('status', '=', status as string))
      .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
    const order = status === 'pending' ? 'asc' : 'desc'
    const rows = await matching
      .selectAll()
      .orderBy('requested_ms', order)
      .orderBy('id', order)
      .limit(limit)
      .offset(offset)
      .execute()
    const { total } = await matching
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { approvals: rows.map(fromRow), total }
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

  async nextExpiry() {
    const row = await read
      .selectFrom('approvals')
      .select('expires_ms')
      .where('status', '=', 'pending')
      .orderBy('expires_ms')
      .limit(1)
      .executeTakeFirst()
    return row?.expires_ms ?? null
  },
})
