import type { upstreamRoutes } from '@gatehouse/contract/routes/upstreams'
import type { Handlers } from '../handler.ts'

export const upstreamHandlers: Handlers<typeof upstreamRoutes> = {
  listUpstreams: (op, app) => app.listUpstreams(op),
  showUpstream: (op, app, input) => app.showUpstream(op, input),
  addUpstream: (op, app, input) => app.addUpstream(op, input),
  acceptUpstream: (op, app, input) => app.acceptUpstream(op, input),
  refreshUpstream: (op, app, input) => app.refreshUpstream(op, input),
  restartUpstream: (op, app, input) => app.restartUpstream(op, input),
  loginUpstream: (op, app, input) => app.loginUpstream(op, input),
  finishUpstreamLogin: (op, app, input) => app.finishUpstreamLogin(op, input),
  logoutUpstream: (op, app, input) => app.logoutUpstream(op, input),
  suggestUpstreamRules: (op, app, input) => app.suggestUpstreamRules(op, input),
  removeUpstream: (op, app, input) => app.removeUpstream(op, input),
}
