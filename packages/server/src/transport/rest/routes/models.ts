import type { modelRoutes } from '@gatehouse/contract/routes/models'
import type { Handlers } from '../handler.ts'

export const modelHandlers: Handlers<typeof modelRoutes> = {
  listModels: (op, app) => app.listModels(op),
  refreshCatalog: (op, app) => app.refreshCatalog(op),
  setDefaultModel: (op, app, input) => app.setDefaultModel(op, input),
  showModel: (op, app, input) => app.showModel(op, input),
  inspectModel: (op, app, input) => app.inspectModel(op, input),
  installModel: (op, app, input) => app.installModel(op, input),
  cancelInstall: (op, app, input) => app.cancelInstall(op, input),
  verifyModel: (op, app, input) => app.verifyModel(op, input),
  removeModel: (op, app, input) => app.removeModel(op, input),
  showJob: (op, app, { id }) => app.showModelJob(op, { job_id: id }),
}
