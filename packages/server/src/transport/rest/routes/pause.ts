import type { pauseRoutes } from '@gatehouse/contract/routes/pause'
import type { Handlers } from '../handler.ts'

export const pauseHandlers: Handlers<typeof pauseRoutes> = {
  showPause: (op, app) => app.showPause(op),
  pauseAll: (op, app, input) => app.pauseAll(op, input),
  resumeAll: (op, app, input) => app.resumeAll(op, input),
}
