import {
  FailedNotificationList,
  NotificationTargetList,
  NotificationTest,
  RetriedNotifications,
} from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName } from '../fields.ts'

const params = z.object({ name: pathName })

const list = defineRoute({
  method: 'GET',
  path: '/api/notifications',
  operationId: 'listNotifications',
  summary: 'Who is told outside of here, and how that goes; neither addresses nor secrets',
  permission: 'read',
  response: NotificationTargetList,
  errors: [],
  handle: async (op, app) => ok({ targets: await app.listNotifications(op) }),
})

const failed = defineRoute({
  method: 'GET',
  path: '/api/notifications/:name/failed',
  operationId: 'listFailedNotifications',
  summary: 'What was given up after a day of trying',
  permission: 'read',
  params,
  response: FailedNotificationList,
  errors: ['NotificationTargetNotFound'],
  handle: async (op, app, { params: { name } }) =>
    ok({ failed: await app.listFailedNotifications(op, { name }) }),
})

const test = defineRoute({
  method: 'POST',
  path: '/api/notifications/:name/test',
  operationId: 'testNotification',
  summary: 'Send a message now and say what came of it',
  permission: 'notifications.manage',
  params,
  response: NotificationTest,
  errors: ['NotificationTargetNotFound'],
  handle: async (op, app, { params: { name } }) => ok(await app.testNotification(op, { name })),
})

const retry = defineRoute({
  method: 'POST',
  path: '/api/notifications/:name/retry',
  operationId: 'retryNotifications',
  summary: 'Try again what was given up',
  permission: 'notifications.manage',
  params,
  response: RetriedNotifications,
  errors: ['NotificationTargetNotFound'],
  handle: async (op, app, { params: { name } }) => ok(await app.retryNotifications(op, { name })),
})

export const notificationRoutes: readonly Route[] = [list, failed, test, retry]
