import type { processRoutes } from '@gatehouse/contract/routes/processes'
import type { Handlers } from '../handler.ts'

export const processHandlers: Handlers<typeof processRoutes> = {
  listProcesses: (op, app, input) => app.listProcesses(op, input),
  showProcess: (op, app, { id }) => app.showProcess(op, { process_id: id }),
  readProcessLog: (op, app, { id, ...range }) =>
    app.readProcessLog(op, { process_id: id, ...range }),
  killProcess: (op, app, { id, ...how }) => app.killProcess(op, { process_id: id, ...how }),
}
