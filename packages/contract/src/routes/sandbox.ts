import { SandboxReport } from '../sandbox.ts'
import { defineRoutes } from './define-routes.ts'

export const sandboxRoutes = defineRoutes({
  probeSandbox: {
    method: 'POST',
    path: '/api/sandbox/probe',
    summary: 'Run a small program in the sandbox now, and report the backend or a remedy',
    permission: 'read',
    answer: SandboxReport,
  },
})
