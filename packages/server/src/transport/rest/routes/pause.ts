import type { pauseRoutes } from '@gatehouse/contract/routes/pause'
import type { Handlers } from '../handler.ts'

export const pauseHandlers: Handlers<typeof pauseRoutes> = {
  pauseAll: (op, app) => app.pauseAll(op),
  resumeAll: (op, app) => app.resumeAll(op),
}
