import { z } from 'zod'
import {
  AcknowledgeAudit,
  AuditEntry,
  AuditPage,
  AuditProof,
  AuditResult,
  AuditTargetList,
  AuditTargetTest,
  Integrity,
  RetentionStatus,
} from '../audit.ts'
import { PolicyDecision } from '../capability.ts'
import { defineRoutes } from './define-routes.ts'
import { page, period, queryText } from './fields.ts'

export const auditRoutes = defineRoutes({
  queryAudit: {
    method: 'GET',
    path: '/api/audit',
    summary: 'Entries that match, newest first, and whether the log is verified',
    permission: 'read',
    query: z.strictObject({
      agent: queryText().optional(),
      capability: queryText()
        .regex(/^[^*]*\*?$/, 'a wildcard stands only at the end, as in filesystem.*')
        .optional(),
      ...period,
      result: AuditResult.optional(),
      policy_decision: PolicyDecision.optional(),
      session: queryText().optional(),
      as_of: queryText(4096)
        .regex(/^[\w.-]+:\d{1,15}(,[\w.-]+:\d{1,15})*$/, 'expected as_of of an earlier answer')
        .optional(),
      ...page({ max: 1000, default: 100 }),
    }),
    answer: AuditPage,
  },
  exportAudit: {
    method: 'GET',
    path: '/api/audit/export',
    summary: 'The whole log with what it takes to verify it elsewhere, one JSON document a line',
    permission: 'read',
    answer: 'lines',
  },
  listAuditTargets: {
    method: 'GET',
    path: '/api/audit/targets',
    summary: 'Where the audit log is carried to, and how far each target has come',
    permission: 'read',
    answer: AuditTargetList,
  },
  testAuditTarget: {
    method: 'POST',
    path: '/api/audit/targets/:name/test',
    summary: 'Try a target now and say what came of it; a witness is sent the newest checkpoint',
    permission: 'audit.manage',
    answer: AuditTargetTest,
    errors: ['NotFound'],
  },
  showRetention: {
    method: 'GET',
    path: '/api/audit/retention',
    summary: 'How long entries stay in the log, what is next to be removed and what holds it back',
    permission: 'read',
    answer: RetentionStatus,
  },
  applyRetention: {
    method: 'POST',
    path: '/api/audit/retention',
    summary: 'Remove what is due now rather than within minutes; an entry says so',
    permission: 'audit.manage',
    answer: RetentionStatus,
  },
  showAuditEntry: {
    method: 'GET',
    path: '/api/audit/:id',
    summary: 'One entry',
    permission: 'read',
    answer: AuditEntry,
    errors: ['NotFound', 'EntryNotListed'],
  },
  proveAuditEntry: {
    method: 'GET',
    path: '/api/audit/:id/proof',
    summary:
      'Proof of one entry, to check it without the log: its bytes, hashes to a root, a signed checkpoint',
    permission: 'read',
    answer: AuditProof,
    errors: ['NotFound', 'EntryNotListed', 'Conflict'],
  },
  verifyAudit: {
    method: 'POST',
    path: '/api/audit/verify',
    summary: 'Hash the whole log again and compare',
    permission: 'read',
    answer: Integrity,
  },
  acknowledgeAudit: {
    method: 'POST',
    path: '/api/audit/acknowledge',
    summary: 'Go on after a failure that is understood; an entry says so',
    permission: 'audit.manage',
    body: AcknowledgeAudit,
    answer: Integrity,
    errors: ['Conflict'],
  },
  reindexAudit: {
    method: 'POST',
    path: '/api/audit/reindex',
    summary: 'Make the index of the log anew from its files; an entry says so',
    permission: 'audit.manage',
    answer: Integrity,
  },
})
