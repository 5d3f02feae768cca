import type { BufferedWrite } from '@gatehouse/contract'
import type { proxyRoutes } from '@gatehouse/contract/routes/proxy'
import type { ChangedWrite } from '../../../app/proxy/change-write.ts'
import { type Handlers, Refusal } from '../handler.ts'
import { withPeriod } from '../with-period.ts'

/** A change that comes too late gets the record as it stands. */
const changed = (
  { kind, write }: ChangedWrite,
  type: 'WriteNotBuffered' | 'WriteNotDead',
): BufferedWrite | Refusal => {
  if (kind === 'changed') return write
  const detail = 'only what has not begun can be cancelled'
  const facts = { write_id: write.id, status: write.status, detail }
  return new Refusal(type, facts, { current: write })
}

export const proxyHandlers: Handlers<typeof proxyRoutes> = {
  showProxy: (op, app) => app.showProxy(op),
  listServiceKinds: async (op, app) => ({ kinds: await app.listServiceKinds(op) }),
  connectService: (op, app, input) => app.connectService(op, input),
  testService: (op, app, input) => app.testService(op, input),
  syncService: (op, app, input) => app.syncService(op, input),
  disconnectService: (op, app, input) => app.disconnectService(op, input),
  listWrites: (op, app, { status, ...filter }) =>
    app.listWrites(op, { ...withPeriod(filter), ...(status === 'all' ? {} : { status }) }),
  cancelWrite: async (op, app, { id }) =>
    changed(await app.cancelWrite(op, { write_id: id }), 'WriteNotBuffered'),
  retryWrite: async (op, app, { id }) =>
    changed(await app.retryWrite(op, { write_id: id }), 'WriteNotDead'),
  discardWrite: async (op, app, { id }) =>
    changed(await app.discardWrite(op, { write_id: id }), 'WriteNotDead'),
  listRollbacks: (op, app, input) => app.listRollbacks(op, withPeriod(input)),
  previewRollback: (op, app, { id }) => app.previewRollback(op, { rollback_id: id }),
  rollBack: (op, app, { id }) => app.rollBack(op, { rollback_id: id }),
}
