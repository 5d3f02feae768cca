import type { activityRoutes } from '@gatehouse/contract/routes/activity'
import type { Handlers } from '../handler.ts'

export const activityHandlers: Handlers<typeof activityRoutes> = {
  listActivity: (op, app, input) => app.listActivity(op, input),

  streamActivity: (op, app, { agent, after }, { lastEventId = after }) => ({
    kind: 'feed',
    name: 'activity',
    open: (signal) =>
      app.followActivity(
        { ...op, signal },
        {
          ...(agent === undefined ? {} : { agent }),
          ...(lastEventId === undefined ? {} : { after: lastEventId }),
        },
      ),
  }),
}
