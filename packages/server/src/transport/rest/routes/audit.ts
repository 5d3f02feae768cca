import {
  AcknowledgeAudit,
  AuditEntry,
  AuditPage,
  AuditProof,
  AuditResult,
  Integrity,
  PolicyDecision,
} from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText, queryTime } from '../fields.ts'

const query = defineRoute({
  method: 'GET',
  path: '/api/audit',
  operationId: 'queryAudit',
  summary: 'Entries that fit, newest first, and whether the log is whole',
  permission: 'read',
  query: z.strictObject({
    agent: queryText().optional(),
    capability: queryText()
      .regex(/^[^*]*\*?$/, 'a wildcard stands only at the end, as in filesystem.*')
      .optional(),
    since: queryTime.optional(),
    until: queryTime.optional(),
    result: AuditResult.optional(),
    policy_decision: PolicyDecision.optional(),
    session: queryText().optional(),
    limit: queryInteger({ min: 1, max: 1000, default: 100 }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: AuditPage,
  errors: [],
  async handle(op, app, { query: { limit, offset, ...filters } }) {
    const given = Object.entries(filters).filter(([, value]) => value !== undefined)
    return ok(await app.queryAudit(op, { ...Object.fromEntries(given), limit, offset }))
  },
})

const exported = defineRoute({
  method: 'GET',
  path: '/api/audit/export',
  operationId: 'exportAudit',
  summary: 'The whole log with what it takes to verify it elsewhere, one JSON document a line',
  permission: 'read',
  response: 'ndjson',
  errors: [],
  handle: (op, app) => Promise.resolve({ kind: 'lines', lines: app.exportAudit(op) }),
})

const show = defineRoute({
  method: 'GET',
  path: '/api/audit/:id',
  operationId: 'showAuditEntry',
  summary: 'One entry',
  permission: 'read',
  params: z.object({ id: pathName }),
  response: AuditEntry,
  errors: ['NotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.showAuditEntry(op, { id })),
})

const prove = defineRoute({
  method: 'GET',
  path: '/api/audit/:id/proof',
  operationId: 'proveAuditEntry',
  summary:
    'What it takes to check one entry without the log: its bytes, hashes to a root, a signed checkpoint',
  permission: 'read',
  params: z.object({ id: pathName }),
  response: AuditProof,
  errors: ['NotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.proveAuditEntry(op, { id })),
})

const verify = defineRoute({
  method: 'POST',
  path: '/api/audit/verify',
  operationId: 'verifyAudit',
  summary: 'Hash the whole log again and compare',
  permission: 'read',
  response: Integrity,
  errors: [],
  handle: async (op, app) => ok(await app.verifyAudit(op)),
})

const acknowledge = defineRoute({
  method: 'POST',
  path: '/api/audit/acknowledge',
  operationId: 'acknowledgeAudit',
  summary: 'Go on after a failure that is understood; an entry says so',
  permission: 'audit.manage',
  body: AcknowledgeAudit,
  response: Integrity,
  errors: ['Conflict'],
  handle: async (op, app, { body }) => ok(await app.acknowledgeAudit(op, body)),
})

const reindex = defineRoute({
  method: 'POST',
  path: '/api/audit/reindex',
  operationId: 'reindexAudit',
  summary: 'Make the index of the log anew from its files; an entry says so',
  permission: 'audit.manage',
  response: Integrity,
  errors: [],
  handle: async (op, app) => ok(await app.reindexAudit(op)),
})

export const auditRoutes: readonly Route[] = [
  query,
  exported,
  show,
  prove,
  verify,
  acknowledge,
  reindex,
]
