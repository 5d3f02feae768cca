import type { statusRoutes } from '@gatehouse/contract/routes/status'
import type { Handlers } from '../handler.ts'

export const statusHandlers: Handlers<typeof statusRoutes> = {
  getStatus: (op, app) => app.status(op),
}
