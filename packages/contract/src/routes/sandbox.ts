import { SandboxReport } from '../sandbox.ts'
import { defineRoutes } from './define-routes.ts'

export const sandboxRoutes = defineRoutes({
  probeSandbox: {
    method: 'POST',
    path: '/api/sandbox/probe',
    summary: 'Run a small program in the sandbox now and say what holds, or what to do',
    permission: 'read',
    answer: SandboxReport,
  },
})
