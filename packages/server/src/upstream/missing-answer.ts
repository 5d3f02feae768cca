import type { JSONRPCMessage, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** A request over HTTP that gets no answer any more. */
export class MissingAnswer extends Error {}

const internalError = -32_603

/** Failure in an error that the transport, and no server, has given as the answer; null elsewhere. */
export const missingAnswerIn = (cause: unknown): MissingAnswer | null => {
  const inner = cause instanceof Error && 'data' in cause ? cause.data : cause
  // No JSON is of a class of ours.
  return inner instanceof MissingAnswer ? inner : null
}

type Sending = StreamableHTTPClientTransport['send']

/** The same transport, which fails a request at once whose stream ends without an answer: it would wait for it as long as it may. */
export const failUnanswered = (
  transport: StreamableHTTPClientTransport,
): StreamableHTTPClientTransport => {
  const send = transport.send.bind(transport)
  const sendOne = (message: JSONRPCMessage, options: Parameters<Sending>[1]): Promise<void> => {
    if (!('method' in message && 'id' in message) || options?.onRequestStreamEnd)
      return send(message, options)
    const { id } = message
    // Told after an answer as well, when nobody waits for one.
    const onRequestStreamEnd = () => {
      const data = new MissingAnswer('its answer broke off before there was a result')
      const error = { code: internalError, message: data.message, data }
      transport.onmessage?.({ jsonrpc: '2.0', id, error })
    }
    return send(message, { ...options, onRequestStreamEnd })
  }
  transport.send = (message, options) =>
    Array.isArray(message) ? send(message, options) : sendOne(message, options)
  return transport
}
