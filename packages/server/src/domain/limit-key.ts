import type { LimitKey } from './sliding-window.ts'

const separator = '\u0000'

/** The one form of a limit's key: agent, what is counted, and window. */
export const limitKey = (
  agent: string,
  counted: string,
  { limit, window_ms }: { readonly limit: number; readonly window_ms: number },
): LimitKey => ({ key: [agent, counted, window_ms].join(separator), limit, window_ms })

/** The agent whose uses a key counts. */
export const agentOfKey = (key: string): string => key.slice(0, key.indexOf(separator))
