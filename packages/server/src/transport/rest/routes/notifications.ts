import type { notificationRoutes } from '@gatehouse/contract/routes/notifications'
import type { Handlers } from '../handler.ts'

export const notificationHandlers: Handlers<typeof notificationRoutes> = {
  listNotifications: async (op, app) => ({ targets: await app.listNotifications(op) }),
  listFailedNotifications: async (op, app, input) => ({
    failed: await app.listFailedNotifications(op, input),
  }),
  testNotification: (op, app, input) => app.testNotification(op, input),
  retryNotifications: (op, app, input) => app.retryNotifications(op, input),
}
