import type { sandboxRoutes } from '@gatehouse/contract/routes/sandbox'
import type { Handlers } from '../handler.ts'

export const sandboxHandlers: Handlers<typeof sandboxRoutes> = {
  probeSandbox: (op, app) => app.probeSandbox(op),
}
