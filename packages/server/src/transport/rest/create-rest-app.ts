import { GatehouseError } from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import type { Actor } from '../../app/call/op.ts'
import type { WebLogin } from '../../app/people/login.ts'
import type { Ids } from '../../ports/ids.ts'
import type { Log } from '../../ports/log.ts'
import { defaultGatewayLimits } from '../http/limits.ts'
import { TokenFailures } from '../http/token-failures.ts'
import { createHostGuard } from './host-guard.ts'
import { InvalidRequest } from './invalid-request.ts'
import { mountRoutes } from './mount.ts'
import { createOpenAiApi, isOpenAiPath } from './openai/create-openai-api.ts'
import { problemResponse, toGatehouseError } from './problem.ts'

export type RestOptions = {
  readonly app: App
  readonly version: string
  readonly ids: Pick<Ids, 'next'>
  readonly log: Log
  /** Names beyond addresses, `localhost` and the machine's own. */
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  /** Whether this is the listener for browsers: its own pages call it, and people log in there. */
  readonly forBrowsers?: boolean
  readonly heartbeatMs?: number
  readonly nowMs?: () => number
}

export type RestVisit = {
  /** Actor, where the caller of this function has established it; otherwise the bearer token says. */
  readonly actor?: Actor
  /** The peer's address; absent for a call from within the process. */
  readonly address?: string
  /** Ends what is still open when the server stops. */
  readonly stopping?: AbortSignal
  /** Whether the actor's credential is still valid, for what stays open. */
  readonly stillValid?: () => Promise<boolean>
  readonly login?: WebLogin
}

export interface RestApp {
  fetch(request: Request, visit?: RestVisit): Promise<Response>
}

/** The REST API as a function from request to response: over a socket, or within the process. */
export function createRestApp(options: RestOptions): RestApp {
  const { app, version, ids, log, allowedHosts = [], allowedOrigins = [] } = options
  const guard = createHostGuard(allowedHosts, allowedOrigins, options.forBrowsers ? 'https' : null)
  const failures = new TokenFailures(
    defaultGatewayLimits.tokenFailuresPerMinute,
    options.nowMs ?? (() => performance.now()),
    (report) => log.warn(report, 'wrong user token'),
  )
  const hono = mountRoutes({
    app,
    version,
    heartbeatMs: options.heartbeatMs ?? 15_000,
  })
  // Not on the listener for browsers: there is no page that would speak it.
  const openAi = options.forBrowsers ? null : createOpenAiApi({ app, log })
  hono.onError((error, context) => {
    const { requestId } = context.env
    const known = toGatehouseError(error, requestId)
    if (known.entry.http >= 500)
      log.error(
        { request_id: requestId, method: context.req.method, path: context.req.path, err: error },
        'request failed',
      )
    return problemResponse(
      known,
      requestId,
      known instanceof InvalidRequest ? { errors: known.errors } : {},
    )
  })

  return {
    async fetch(request, visit = {}) {
      const requestId = ids.next('req')
      const { stopping, actor, address, stillValid, login } = visit
      try {
        guard.assertAllowed(request.headers, address !== undefined)
      } catch (error) {
        return problemResponse(toGatehouseError(error, requestId), requestId)
      }
      const signal = stopping ? AbortSignal.any([request.signal, stopping]) : request.signal
      const response =
        openAi && isOpenAiPath(new URL(request.url).pathname)
          ? await openAi.fetch(request, { requestId, signal })
          : await hono.fetch(request, {
              requestId,
              signal,
              peer: {
                address: address ?? '',
                logsIn: options.forBrowsers === true,
                origin: guard.ownOrigin(request.headers),
                login: login ?? null,
              },
              ...(actor ? { actor } : {}),
              ...(stillValid ? { stillValid } : {}),
            })
      const answer =
        response.status === 401 &&
        address !== undefined &&
        request.headers.has('authorization') &&
        failures.add(address).limited
          ? problemResponse(new GatehouseError('TooManyFailures'), requestId)
          : response
      answer.headers.set('gatehouse-request-id', requestId)
      answer.headers.set('x-content-type-options', 'nosniff')
      return answer
    },
  }
}
