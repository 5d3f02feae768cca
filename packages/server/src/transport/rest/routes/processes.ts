import {
  KilledProcess,
  KillProcess,
  Process,
  ProcessList,
  ProcessLog,
  ProcessState,
  ProcessStream,
} from '@gatehouse/contract'
import { z } from '@hono/zod-openapi'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText } from '../fields.ts'

const params = z.object({ id: pathName })

const list = defineRoute({
  method: 'GET',
  path: '/api/processes',
  operationId: 'listProcesses',
  summary: 'The programs of agents: those that a call waits for, then those in the background',
  permission: 'read',
  query: z.strictObject({
    agent: queryText().optional(),
    state: ProcessState.optional(),
    limit: queryInteger({ min: 1, max: 500, default: 50 }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: ProcessList,
  errors: [],
  async handle(op, app, { query: { agent, state, ...page } }) {
    const filter = { ...(agent === undefined ? {} : { agent }), ...(state ? { state } : {}) }
    return ok(await app.listProcesses(op, { ...page, ...filter }))
  },
})

const show = defineRoute({
  method: 'GET',
  path: '/api/processes/:id',
  operationId: 'showProcess',
  summary: 'One program of an agent',
  permission: 'read',
  params,
  response: Process,
  errors: ['ProcessNotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.showProcess(op, { process_id: id })),
})

/** Absent: the end of the stream. */
const offset = z
  .string()
  .regex(/^\d{1,15}$/, 'expected an integer from 0')
  .transform(Number)
  .optional()
  .openapi({ type: 'integer', minimum: 0 })

const logs = defineRoute({
  method: 'GET',
  path: '/api/processes/:id/logs',
  operationId: 'readProcessLog',
  summary: 'What a program wrote, from an offset on or its end',
  permission: 'read',
  params,
  query: z.strictObject({
    stream: ProcessStream.default('stdout'),
    offset,
    limit: queryInteger({ min: 1, max: 1_048_576, default: 65_536 }),
  }),
  response: ProcessLog,
  errors: ['ProcessNotFound', 'ProcessElsewhere'],
  handle: async (op, app, { params: { id }, query }) =>
    ok(await app.readProcessLog(op, { process_id: id, ...query })),
})

const kill = defineRoute({
  method: 'POST',
  path: '/api/processes/:id/kill',
  operationId: 'killProcess',
  summary: 'Send a signal to a program, and end it for good if it does not end',
  permission: 'processes.manage',
  params,
  body: KillProcess,
  response: KilledProcess,
  errors: ['ProcessNotFound', 'ProcessNotRunning', 'ProcessElsewhere'],
  handle: async (op, app, { params: { id }, body }) =>
    ok(await app.killProcess(op, { process_id: id, ...body })),
})

export const processRoutes: readonly Route[] = [list, show, logs, kill]
