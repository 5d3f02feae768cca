import {
  BufferedWrite,
  BufferedWriteList,
  ConnectedService,
  ConnectService,
  DisconnectService,
  ProxyService,
  ProxyStatus,
  RollbackList,
  RollbackPoint,
  RollbackPreview,
  RollbackStatus,
  ServiceKindList,
  ServiceTest,
  SyncService,
  WriteFilterStatus,
} from '@gatehouse/contract'
import { z } from 'zod'
import type { ChangedWrite } from '../../../app/proxy/change-write.ts'
import { type Answer, conflict, created, defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText } from '../fields.ts'

const page = {
  limit: queryInteger({ min: 1, max: 1000, default: 100 }),
  offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
}
const named = z.object({ name: pathName })
const identified = z.object({ id: pathName })

const status = defineRoute({
  method: 'GET',
  path: '/api/proxy/status',
  operationId: 'showProxy',
  summary: 'Every connected service: how it is, what its replica holds, what waits for it',
  permission: 'read',
  response: ProxyStatus,
  errors: [],
  handle: async (op, app) => ok(await app.showProxy(op)),
})

const kinds = defineRoute({
  method: 'GET',
  path: '/api/proxy/kinds',
  operationId: 'listServiceKinds',
  summary: 'What can be connected, with the settings and credentials that each asks for',
  permission: 'read',
  response: ServiceKindList,
  errors: [],
  handle: async (op, app) => ok({ kinds: await app.listServiceKinds(op) }),
})

const connect = defineRoute({
  method: 'POST',
  path: '/api/proxy/services',
  operationId: 'connectService',
  summary: 'Connect a service, or connect it anew, once everything about it was seen to work',
  permission: 'proxy.manage',
  body: ConnectService,
  response: ConnectedService,
  success: 201,
  errors: [
    'ServiceKindNotFound',
    'ServiceSettingsInvalid',
    'ServiceConnectionFailed',
    'AgentNotFound',
    'SecretRefused',
    'VaultLocked',
    'QuotaExceeded',
    'Conflict',
  ],
  handle: async (op, app, { body }) => created(await app.connectService(op, body)),
})

const test = defineRoute({
  method: 'POST',
  path: '/api/proxy/services/:name/test',
  operationId: 'testService',
  summary: 'Look at each thing that must work, and name what does not',
  permission: 'proxy.manage',
  params: named,
  response: ServiceTest,
  errors: ['ServiceNotFound', 'ServiceUnavailable'],
  handle: async (op, app, { params }) => ok(await app.testService(op, params)),
})

const sync = defineRoute({
  method: 'POST',
  path: '/api/proxy/services/:name/sync',
  operationId: 'syncService',
  summary: 'Read what changed now; with `full` everything anew',
  permission: 'proxy.manage',
  params: named,
  body: SyncService,
  response: ProxyService,
  errors: ['ServiceNotFound', 'ServiceUnavailable'],
  handle: async (op, app, { params, body }) =>
    ok(await app.syncService(op, { ...params, ...body })),
})

const disconnect = defineRoute({
  method: 'POST',
  path: '/api/proxy/services/:name/disconnect',
  operationId: 'disconnectService',
  summary: 'End a service: what waits is cancelled, replica, ways back and credentials go',
  permission: 'proxy.manage',
  params: named,
  body: DisconnectService,
  response: ProxyService,
  errors: ['ServiceNotFound'],
  handle: async (op, app, { params, body }) =>
    ok(await app.disconnectService(op, { ...params, ...body })),
})

const writes = defineRoute({
  method: 'GET',
  path: '/api/proxy/writes',
  operationId: 'listWrites',
  summary: 'Writes that wait for their time; with `status` also others',
  permission: 'read',
  query: z.strictObject({
    status: z.enum([...WriteFilterStatus.options, 'all']).default('pending'),
    agent: queryText().optional(),
    service: queryText().optional(),
    ...page,
  }),
  response: BufferedWriteList,
  errors: [],
  handle: async (op, app, { query: { status: asked, agent, service, limit, offset } }) =>
    ok(
      await app.listWrites(op, {
        limit,
        offset,
        ...(asked === 'all' ? {} : { status: asked }),
        ...(agent === undefined ? {} : { agent }),
        ...(service === undefined ? {} : { service }),
      }),
    ),
})

/** Whoever comes too late gets the record as it stands. */
const answered = (
  { kind, write }: ChangedWrite,
  type: 'WriteNotBuffered' | 'WriteNotDead',
): Answer<BufferedWrite> =>
  kind === 'changed'
    ? ok(write)
    : conflict(
        type,
        {
          write_id: write.id,
          status: write.status,
          detail: 'only what has not begun can be cancelled',
        },
        write,
      )

const cancel = defineRoute({
  method: 'POST',
  path: '/api/proxy/writes/:id/cancel',
  operationId: 'cancelWrite',
  summary: 'Cancel a write before it runs',
  permission: 'writes.cancel',
  params: identified,
  response: BufferedWrite,
  errors: ['WriteNotFound', 'WriteNotBuffered'],
  handle: async (op, app, { params: { id } }) =>
    answered(await app.cancelWrite(op, { write_id: id }), 'WriteNotBuffered'),
})

const retry = defineRoute({
  method: 'POST',
  path: '/api/proxy/writes/:id/retry',
  operationId: 'retryWrite',
  summary: 'Send a write that failed once more: first look whether it is there already',
  permission: 'proxy.manage',
  params: identified,
  response: BufferedWrite,
  errors: ['WriteNotFound', 'WriteNotDead', 'ServiceUnavailable'],
  handle: async (op, app, { params: { id } }) =>
    answered(await app.retryWrite(op, { write_id: id }), 'WriteNotDead'),
})

const discard = defineRoute({
  method: 'POST',
  path: '/api/proxy/writes/:id/discard',
  operationId: 'discardWrite',
  summary: 'Let a write that failed go',
  permission: 'proxy.manage',
  params: identified,
  response: BufferedWrite,
  errors: ['WriteNotFound', 'WriteNotDead'],
  handle: async (op, app, { params: { id } }) =>
    answered(await app.discardWrite(op, { write_id: id }), 'WriteNotDead'),
})

const rollbacks = defineRoute({
  method: 'GET',
  path: '/api/proxy/rollbacks',
  operationId: 'listRollbacks',
  summary: 'What stood before writes, and can be gone back to, the newest first',
  permission: 'read',
  query: z.strictObject({
    status: RollbackStatus.optional(),
    service: queryText().optional(),
    ...page,
  }),
  response: RollbackList,
  errors: [],
  handle: async (op, app, { query: { status: asked, service, limit, offset } }) =>
    ok(
      await app.listRollbacks(op, {
        limit,
        offset,
        ...(asked === undefined ? {} : { status: asked }),
        ...(service === undefined ? {} : { service }),
      }),
    ),
})

const preview = defineRoute({
  method: 'GET',
  path: '/api/proxy/rollbacks/:id/preview',
  operationId: 'previewRollback',
  summary: 'What rolling back would do now, without doing it',
  // It asks the service, which a viewer may not make it do.
  permission: 'proxy.manage',
  params: identified,
  response: RollbackPreview,
  errors: ['RollbackNotFound', 'RollbackNotReady', 'ServiceUnavailable'],
  handle: async (op, app, { params: { id } }) =>
    ok(await app.previewRollback(op, { rollback_id: id })),
})

const rollBack = defineRoute({
  method: 'POST',
  path: '/api/proxy/rollbacks/:id/rollback',
  operationId: 'rollBack',
  summary: 'Go back to what stood before a write, exactly or not at all',
  permission: 'proxy.manage',
  params: identified,
  response: RollbackPoint,
  errors: ['RollbackNotFound', 'RollbackNotReady', 'RollbackRefused', 'ServiceUnavailable'],
  handle: async (op, app, { params: { id } }) => ok(await app.rollBack(op, { rollback_id: id })),
})

export const proxyRoutes: readonly Route[] = [
  status,
  kinds,
  connect,
  test,
  sync,
  disconnect,
  writes,
  cancel,
  retry,
  discard,
  rollbacks,
  preview,
  rollBack,
]
