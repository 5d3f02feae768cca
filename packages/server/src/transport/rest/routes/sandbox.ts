import { SandboxReport } from '@gatehouse/contract'
import { defineRoute, ok, type Route } from '../define.ts'

const probe = defineRoute({
  method: 'POST',
  path: '/api/sandbox/probe',
  operationId: 'probeSandbox',
  summary: 'Run a small program in the sandbox now and say what holds, or what to do',
  permission: 'read',
  response: SandboxReport,
  errors: [],
  handle: async (op, app) => ok(await app.probeSandbox(op)),
})

export const sandboxRoutes: readonly Route[] = [probe]
