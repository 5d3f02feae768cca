import type { alertRoutes } from '@gatehouse/contract/routes/alerts'
import type { Handlers } from '../handler.ts'
import { withPeriod } from '../with-period.ts'

export const alertHandlers: Handlers<typeof alertRoutes> = {
  listAlerts: (op, app, input) => app.listAlerts(op, withPeriod(input)),
  acknowledgeAlert: (op, app, { id }) => app.acknowledgeAlert(op, { alert_id: id }),
  showAlertHandling: (op, app) => app.showAlertHandling(op),
  muteAlerts: (op, app, input) => app.muteAlerts(op, input),
  unmuteAlerts: (op, app, input) => app.unmuteAlerts(op, input),
  routeAlerts: (op, app, input) => app.routeAlerts(op, input),
}
