import type { alertRoutes } from '@gatehouse/contract/routes/alerts'
import type { Handlers } from '../handler.ts'

export const alertHandlers: Handlers<typeof alertRoutes> = {
  listAlerts: (op, app, input) => app.listAlerts(op, input),
  acknowledgeAlert: (op, app, { id }) => app.acknowledgeAlert(op, { alert_id: id }),
}
