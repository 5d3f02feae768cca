import {
  FailedNotificationList,
  NotificationTargetList,
  NotificationTest,
  RetriedNotifications,
} from '../notification.ts'
import { defineRoutes } from './define-routes.ts'

export const notificationRoutes = defineRoutes({
  listNotifications: {
    method: 'GET',
    path: '/api/notifications',
    summary: 'Notification targets and their delivery status; neither addresses nor secrets',
    permission: 'read',
    answer: NotificationTargetList,
  },
  listFailedNotifications: {
    method: 'GET',
    path: '/api/notifications/:name/failed',
    summary: 'Notifications that were given up after a day of retries',
    permission: 'read',
    answer: FailedNotificationList,
    errors: ['NotificationTargetNotFound'],
  },
  testNotification: {
    method: 'POST',
    path: '/api/notifications/:name/test',
    summary: 'Send a message now and say what came of it',
    permission: 'notifications.manage',
    answer: NotificationTest,
    errors: ['NotificationTargetNotFound'],
  },
  retryNotifications: {
    method: 'POST',
    path: '/api/notifications/:name/retry',
    summary: 'Try again what was given up',
    permission: 'notifications.manage',
    answer: RetriedNotifications,
    errors: ['NotificationTargetNotFound'],
  },
})
