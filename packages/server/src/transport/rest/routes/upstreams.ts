import { type UpstreamReview, upstreamCallbackPath } from '@gatehouse/contract'
import type { upstreamRoutes } from '@gatehouse/contract/routes/upstreams'
import { type Handlers, Reply } from '../handler.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { etagOf } from '../versions.ts'

/**
 * Codes are brought to the machine of the person, or back to the page that asked.
 * @SECURITY No other page gets one, whoever names it; rest/login-callback.test.ts.
 */
const assertOwnCallback = (redirectUrl: string, origin: string | null): void => {
  if (redirectUrl.startsWith('http://127.0.0.1:')) return
  if (origin !== null && redirectUrl === `${origin}${upstreamCallbackPath}`) return
  const own = origin === null ? '' : `, or ${origin}${upstreamCallbackPath}`
  throw new InvalidRequest([
    {
      pointer: '/redirect_url',
      detail: `expected http://127.0.0.1:PORT/…${own}; a request to the dashboard names its own page`,
    },
  ])
}

const versioned = (review: UpstreamReview): Reply<UpstreamReview> =>
  new Reply(review, { headers: { etag: etagOf(review.upstream.version) } })

export const upstreamHandlers: Handlers<typeof upstreamRoutes> = {
  listUpstreams: (op, app) => app.listUpstreams(op),
  showUpstream: async (op, app, input) => versioned(await app.showUpstream(op, input)),
  addUpstream: (op, app, input) => app.addUpstream(op, input),
  editUpstream: async (op, app, { name, ...changes }, { versions }) =>
    versioned(await app.editUpstream(op, { name, changes, versions })),
  acceptUpstream: (op, app, input) => app.acceptUpstream(op, input),
  declineUpstream: (op, app, input) => app.declineUpstream(op, input),
  refreshUpstream: (op, app, input) => app.refreshUpstream(op, input),
  restartUpstream: (op, app, input) => app.restartUpstream(op, input),
  loginUpstream: (op, app, input, { origin }) => {
    assertOwnCallback(input.redirect_url, origin)
    return app.loginUpstream(op, input)
  },
  finishUpstreamLogin: (op, app, input) => app.finishUpstreamLogin(op, input),
  logoutUpstream: (op, app, input) => app.logoutUpstream(op, input),
  suggestUpstreamRules: (op, app, input) => app.suggestUpstreamRules(op, input),
  removeUpstream: (op, app, input) => app.removeUpstream(op, input),
}
