import type { grantRoutes } from '@gatehouse/contract/routes/grants'
import type { Handlers } from '../handler.ts'

export const grantHandlers: Handlers<typeof grantRoutes> = {
  listGrants: (op, app, { status, ...filter }) =>
    app.listGrants(op, { ...filter, all: status === 'all' }),
  revokeGrant: (op, app, { id }) => app.revokeGrant(op, { grant_id: id }),
}
