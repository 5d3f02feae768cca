import { takeTurn } from '../call/turn.ts'
import type { UpstreamDeps } from './upstream-deps.ts'

/** Longer than a server takes to answer or a login to be revoked. */
const turnMs = 180_000

/**
 * Lets one at a time add or remove a server of a name: its credentials and folders bear that name, and are there before
 * its row is, and after.
 * @SECURITY Without it a token is sent to the server of somebody else's order; app/upstreams/upstream-races.test.ts.
 */
export const takeUpstreamTurn = (
  deps: Pick<UpstreamDeps, 'storage' | 'clock' | 'ids'>,
  upstream: string,
) =>
  takeTurn(deps, {
    key: `upstream.turn.${upstream}`,
    ms: turnMs,
    detail: `${upstream} is being added or removed right now; try again in a moment.`,
  })
