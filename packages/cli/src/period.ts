import { timeAgo } from './times.ts'

/** Options of lists of what happened at a time. */
export const periodOptions = {
  since: { value: 'TIME', about: 'from this time: ISO 8601, or 90m, 12h, 7d ago' },
  until: { value: 'TIME', about: 'until this time' },
} as const

type Typed = { readonly since?: string | undefined; readonly until?: string | undefined }

/** The range as the service reads it. */
export function periodOf({ since, until }: Typed): Typed {
  const nowMs = Date.now()
  return {
    ...(since === undefined ? {} : { since: timeAgo(since, nowMs) }),
    ...(until === undefined ? {} : { until: timeAgo(until, nowMs) }),
  }
}
