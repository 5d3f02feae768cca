import type { Client, ServerEvent } from '@gatehouse/rest-client'
import { streamAgain } from './stream-again.ts'

/** Approvals as they come: each new connection begins with a snapshot, so nothing is missed. */
export const eventsAgain = (
  api: Client,
  signal: AbortSignal,
  onLost: (error: unknown) => Promise<void>,
): AsyncGenerator<ServerEvent> => streamAgain(() => api.streamApprovals(signal), signal, onLost)
