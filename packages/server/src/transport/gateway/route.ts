import { type Refusal, refusals } from '../http/respond.ts'

export type Route =
  | { readonly kind: 'rpc' | 'mcp' | 'health' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

const refused = (refusal: Refusal): Route => ({ kind: 'refused', refusal })

const mcpMethods = new Set(['POST', 'GET', 'DELETE'])

/** Where a path leads, by exact comparison; nothing is decoded or normalised. */
export const routeOf = (method: string, path: string, offersUpgrade: boolean): Route => {
  switch (path) {
    case '/rpc':
      return method === 'POST' ? { kind: 'rpc' } : refused(refusals.postOnly)
    case '/mcp':
      if (!mcpMethods.has(method)) return refused(refusals.mcpMethods)
      // A WebSocket handshake that forgot `Connection: Upgrade` arrives as a plain GET.
      return offersUpgrade ? refused(refusals.badUpgrade) : { kind: 'mcp' }
    case '/healthz':
    case '/readyz':
      return method === 'GET' || method === 'HEAD' ? { kind: 'health' } : refused(refusals.getOnly)
    default:
      return refused(refusals.notFound)
  }
}
