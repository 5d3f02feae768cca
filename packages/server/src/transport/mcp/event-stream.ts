import type { ServerResponse } from 'node:http'

/** An answer that became a stream of server-sent events. JSON text has no line breaks of its own. */
export const eventStreamType = 'text/event-stream'

export const acceptsEventStream = (accept: string | undefined): boolean =>
  accept !== undefined && (accept.includes(eventStreamType) || accept.includes('*/*'))

export const beginEventStream = (res: ServerResponse): void => {
  res.writeHead(200, {
    'Content-Type': eventStreamType,
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
  })
}

/** `written` is told whether the system has taken the event for the peer. */
export const writeEvent = (
  res: ServerResponse,
  text: string,
  written?: (taken: boolean) => void,
): void => {
  const event = `event: message\ndata: ${text}\n\n`
  if (written) res.write(event, (error) => written(!error && !res.destroyed))
  else res.write(event)
}

/** Keeps proxies from closing a stream on which nothing happens. */
export const writeHeartbeat = (res: ServerResponse): void => {
  res.write(': still here\n\n')
}
