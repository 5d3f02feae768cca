import type { engineRoutes } from '@gatehouse/contract/routes/engine'
import type { Handlers } from '../handler.ts'

export const engineHandlers: Handlers<typeof engineRoutes> = {
  showEngine: (op, app) => app.showEngine(op),
  setUpEngine: (op, app) => app.setUpEngine(op),
  startEngine: (op, app, input) => app.startEngine(op, input),
  stopEngine: (op, app) => app.stopEngine(op),
  releaseModel: (op, app, input) => app.releaseModel(op, input),
  tryModel: (op, app, input) => app.tryModel(op, input),
}
