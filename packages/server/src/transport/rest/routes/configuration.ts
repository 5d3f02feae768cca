import type { configurationRoutes } from '@gatehouse/contract/routes/configuration'
import type { Handlers } from '../handler.ts'

export const configurationHandlers: Handlers<typeof configurationRoutes> = {
  getConfiguration: (op, app) => app.configuration(op),
  showCertificate: (op, app) => app.showCertificate(op),
}
