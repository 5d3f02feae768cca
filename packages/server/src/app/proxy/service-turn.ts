import { takeTurn } from '../call/turn.ts'
import type { ProxyDeps } from './deps.ts'

/** Longer than the few transactions of a turn. */
const turnMs = 60_000

/**
 * Lets one at a time change the credentials of a service with its settings, since the vault keeps them in transactions of its own.
 * @SECURITY Without it a password is sent to the host of somebody else's settings; test/proxy/connect-races.test.ts.
 */
export const takeServiceTurn = (
  deps: Pick<ProxyDeps, 'storage' | 'clock' | 'ids'>,
  service: string,
) =>
  takeTurn(deps, {
    key: `service.turn.${service}`,
    ms: turnMs,
    detail: `somebody else is connecting or disconnecting ${service}; try again in a moment.`,
  })
